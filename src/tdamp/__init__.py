"""tdamp: neural networks trained by message passing (EM-TDAMP)."""

from .beliefs import Message, Moments
from .network import Network
from .outcome import Outcome
from .predict import class_probs, log_class_probs, mean_network, output_moments, predictive
from .settings import Settings
from .training import Fitted, fit

__all__ = [
    "Fitted",
    "Message",
    "Moments",
    "Network",
    "Outcome",
    "Settings",
    "class_probs",
    "fit",
    "log_class_probs",
    "mean_network",
    "output_moments",
    "predictive",
]
__version__ = "0.1.0"
