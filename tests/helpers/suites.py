"""Which tests are the core suite, `make test`; `make test-all` runs all others too, and those of benchmarks/tests.

The core suite takes about four minutes on two cores, and is to take no more. It is chosen here and nowhere else:
tests/conftest.py puts the marker `extended` on everything that is not in it.
"""

from __future__ import annotations

CORE = {
    # the mathematics, against its oracles
    "numerics",
    "factors",
    "engine",
    "exams",
    "test_algorithm.py",
    "test_errata.py",
    "test_metrics.py",
    "federated/aggregation",
    # the architecture and the promises
    "test_architecture.py",
    "test_imports.py",
    "test_labels.py",
    "test_public.py",
    "test_suites.py",
    "test_warnings.py",
    "supply/test_public_api.py",
    "mutants",
    # the estimators' contract, tables, saving and loading
    "estimators/test_estimators.py::test_scikit_learn_contract",
    "io",
    "persistence",
    "tables",
    # one journey each: command line, report, federation
    "cli/test_usage.py",
    "cli/test_journey.py::test_from_table_to_predictions",
    "report",
    "federated/test_fit.py::test_the_history",
    "federated/test_fit.py::test_the_estimator_is_a_fitted_one",
    "federated/test_fit.py::test_save_load_and_report",
}
"""Folders, modules and tests, by their paths below tests/."""

SLOWER = {
    "engine/test_layout.py::test_compaction",
    "engine/test_layout.py::test_it_learns",
    "engine/test_layout.py::test_pruned_to_a_goal",
    "engine/test_ranking.py::test_each_datum_counts_once",
    "engine/test_ranking.py::test_inputs_of_a_group_go_together",
    "engine/test_ranking.py::test_it_ranks_as_removal_does",
    "engine/test_ranking.py::test_no_nan_in_both_precisions",
    "engine/test_mstep.py::test_the_chain_is_learned_from_every_support",
    "engine/test_settings_paper.py::test_no_trust_region",
    "engine/test_settings_paper.py::test_rho_of_one_is_a_gaussian_prior",
    "federated/aggregation/test_robust.py::test_honest_clients_keep_their_share",
    "numerics/test_gaussian_argmax.py::test_variances_that_differ",
    "persistence/test_old_pickles.py::test_an_old_pickle_goes_on_learning",
    "persistence/test_version_0_1.py::test_loading_is_all_that_a_process_does",
    "report/test_from_estimator.py::test_classification_with_frame",
    "report/test_browser.py",
    "report/test_from_estimator.py::test_a_model_without_noise_shows_none",
    # trainings, files and exports of every member: the core suite saves, loads, exports and reports one of each kind
    "exams/test_activations.py::test_it_trains",
    "exams/test_activations.py::test_saved_and_exported",
    "exams/test_layers.py::test_files_and_exports",
    "exams/test_layers.py::test_it_trains_and_prunes",
    "exams/test_likelihoods.py::test_exports",
    "exams/test_likelihoods.py::test_files",
    "exams/test_likelihoods.py::test_it_trains",
    "exams/test_priors.py::test_files_and_exports",
    "exams/test_priors.py::test_it_trains_and_prunes",
    # skeletons of CONTRIBUTING, of which the exams examine the like
    "exams/test_aggregation.py::test_the_skeleton_is_a_rule",
    "exams/test_skeletons.py",
    "factors/activations/test_catalog.py::test_the_skeleton_in_contributing",
    # the exam compares the same scores with the same derivatives
    "factors/likelihoods/test_heteroscedastic.py::test_score_of_the_log_noise",
    "factors/likelihoods/test_poisson.py::test_score",
}
"""Tests of those folders, or modules, that would make the core suite too long."""


def is_core(path: str, name: str) -> bool:
    """Whether the core suite has a test: the path of its module below tests/, and its name without parameters."""
    parts = path.split("/")
    places = {"/".join(parts[: i + 1]) for i in range(len(parts))} | {f"{path}::{name}"}
    return not places.isdisjoint(CORE) and places.isdisjoint(SLOWER)
