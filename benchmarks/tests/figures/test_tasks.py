"""Tasks of the figures."""

from tdamp_bench.figures import tasks


def test_problems_are_shared_objects(toys, lines):
    """identity: MNIST is one object for all seeds, Boston one per split, and the two roles differ."""
    mnist, boston = tasks.mnist(), tasks.boston()
    assert mnist.problem("test", 0) is mnist.problem("test", 3) is not mnist.problem("validation", 0)
    assert boston.problem("test", 1) is boston.problem("test", 1) is lines[1]
    assert len(mnist.problem("validation", 0).x_test) == 30
