"""Cost matrices for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def cost_matrices(max_side=12, highest=5.0, dtype=np.float64, min_side=1):
    """[T, J] with entries in [0, highest], ties and zeros included."""
    side = st.integers(min_side, max_side)
    values = st.floats(0, highest, width=np.dtype(dtype).itemsize * 8, allow_subnormal=False)
    return st.tuples(side, side).flatmap(lambda shape: hnp.arrays(dtype, shape, elements=values))
