"""The roofline: multiply-adds of an epoch and the rate of matrix products."""

from tdamp_bench.methods.baselines import gemm


def test_gemm_count_of_an_mnist_epoch():
    """identity: the issue's formula by hand for 784-128-10."""
    assert gemm.epoch_flops((784, 128, 10), 60_000) == 2 * 60_000 * (4 * 784 * 128 + 9 * 128 * 10)
    assert gemm.epoch_flops((3, 5, 7, 2), 10) == 20 * (4 * 15 + 9 * 35 + 9 * 14)


def test_gemm_rate_is_the_better_of_the_two():
    """identity: the larger of the two rates, and rates are positive."""
    rates = gemm.measure(size=64, repeats=2)
    assert rates["rate"] == max(rates["numpy"], rates["jax"]) > 0
    assert gemm.better({"rate": 2.0}, {"rate": 3.0}) == {"rate": 3.0}
