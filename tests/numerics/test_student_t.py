"""Student's t by its standard deviation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from tdamp.numerics import student_t

RNG = np.random.default_rng(0)
DOF = np.array([2.5, 3.0, 7.0, 40.0, 1e6, np.inf])
Z = np.array([-6.0, -1.0, 0.0, 0.3, 2.0, 9.0])


def reference(dof: float) -> object:
    """scipy's distribution with mean zero and standard deviation one."""
    return stats.norm() if np.isinf(dof) else stats.t(dof, scale=np.sqrt((dof - 2) / dof))


@pytest.mark.parametrize("dof", DOF)
def test_density_distribution_and_quantile(dof: float) -> None:
    """twin: scipy.stats, at a shifted mean and another scale."""
    made = reference(dof)
    np.testing.assert_allclose(student_t.log_density(3 + 5 * Z, 3, 5, dof), made.logpdf(Z) - np.log(5), rtol=1e-7)
    np.testing.assert_allclose(student_t.cdf(Z, dof), made.cdf(Z), rtol=1e-9)
    np.testing.assert_allclose(student_t.quantile(made.cdf(Z[1:5]), dof), Z[1:5], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("dof", [3.5, 8.0, np.inf])
def test_crps(dof: float) -> None:
    """quadrature: the integral of the squared difference of the two distribution functions."""
    made = reference(dof)
    for z in (-2.0, 0.0, 1.5):
        below = integrate.quad(lambda t: made.cdf(t) ** 2, -np.inf, z)[0]
        above = integrate.quad(lambda t: made.sf(t) ** 2, z, np.inf)[0]
        assert student_t.crps(z, dof) == pytest.approx(below + above, rel=1e-6)


def test_entries_have_tails_of_their_own() -> None:
    """identity: mixed degrees of freedom, finite and infinite, are those of each entry alone."""
    for function in (student_t.cdf, student_t.crps, student_t.quantile):
        points = np.full(len(DOF), 0.7)
        np.testing.assert_array_equal(function(points, DOF), [function(0.7, dof) for dof in DOF])
