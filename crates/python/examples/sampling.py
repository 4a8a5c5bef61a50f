"""The next token of each row of a batch, drawn from its logits: among the k best (top-k), or among the best whose probabilities make up p
(top-p). On NumPy's arrays and on torch's, whose memory on the GPU is used as it is."""

import numpy as np

import trifold_gpu as gpu


def drawn(best, places, uniform, p, xp):
    """Of each row's logits in falling order: the place of the one that its number in [0, 1) falls on."""
    weights = xp.exp(best - best[:, :1])
    sums = gpu.inclusive_scan(weights)
    # Those before which p is not made up yet.
    kept = sums - weights < p * sums[:, -1:]
    limit = xp.where(kept, weights, weights * 0).sum(1)
    column = (sums < (uniform * limit)[:, None]).sum(1)
    return places[xp.arange(len(places)), column]


def top_k(logits, k, uniform, xp=np):
    best, places = gpu.top_k(logits, k)
    return drawn(best, places, uniform, 1.0, xp)


def top_p(logits, p, uniform, xp=np):
    best, places = gpu.argsort(logits, descending=True, with_keys=True)
    return drawn(best, places, uniform, p, xp)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    logits = random.standard_normal((4, 1000)).astype("f4")
    uniform = random.random(4, dtype="f4")
    tokens = top_k(logits, 8, uniform)
    assert all(token in np.argsort(-row)[:8] for token, row in zip(tokens, logits))
    # With p near 0 only the best is left.
    assert (top_p(logits, 1e-6, uniform) == logits.argmax(1)).all()
    print(tokens, top_p(logits, 0.5, uniform))
