"""The likelihoods by name. A new one is a file here and a line below (CONTRIBUTING.md has a skeleton)."""

from __future__ import annotations

from .base import Likelihood
from .gaussian import Gaussian
from .heteroscedastic import Heteroscedastic
from .poisson import Poisson
from .probit import Probit

LIKELIHOODS: dict[str, Likelihood] = {
    member.name: member for member in (Gaussian(), Heteroscedastic(), Probit(), Poisson())
}
