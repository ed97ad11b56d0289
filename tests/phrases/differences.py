"""Where retrograd says something else than PyTorch on purpose, and why.

A reason and its patterns, each searched in the program (or the name of a refusal) and in PyTorch's message. A pattern
that nothing needs any more fails the tests.
"""

# By what PyTorch says: it did not check, and this is how it stumbled.
ACCIDENTS: dict[str, tuple[str, ...]] = {
    "PyTorch stumbles over an argument of a wrong type, which is refused here by its name": (
        "has no attribute",
        r"has no len\(\)",
        "not supported between instances",
        "is not subscriptable",
    ),
    "PyTorch stumbles over a value, which is refused here by its name": (
        "division by zero",
        "by zero$",
        "arg 3 must not be zero",
        "pop from empty list",
        r"^slice\(\) cannot be",
    ),
    "an assertion inside PyTorch, which is refused here by what the user gave": (
        "^Padding_idx must be within",
        "^Expected dim < static_cast",
        "^A must be square, got shape",
        "missing 1 required positional argument: 'x'$",
        "^Expected output to be a",
        "^Expected gradient function to be set",
        "^invalid index of a 0-dim",
        "INTERNAL ASSERT",
    ),
    "PyTorch turns a TypeError of a hook into one of the operator; here it passes as it is": (
        r"^unsupported operand type\(s\) for \*: 'Tensor' and 'Tensor'$",
    ),
    "PyTorch's inner functions": (
        "_vjp_with_argnums",
        "insert a get_attr Node",
        "There is a performance drop",
    ),
}

# By the program, or by the name of a refusal.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "PyTorch drops the gradient that there is no output for": (r"grad\(\[x \* 2\], x, \[m.ones\(2\), m.ones\(2\)\]\)",),
    "PyTorch's abstract class has private methods more": (r"graph\.Node\(\)",),
    "nodes of ops are of one class here": (
        r"grad_fn\.(metadata|next_functions) = ",
        r"^x = .*\ntype\(\(x \* 2\)\.grad_fn\)\(\)",
    ),
    "of two tensors that were written to, another one is unpacked first": (r"y\.mul_\(y\)",),
    "PyTorch says that the view was made in no_grad, where it was not": (r"^x = m\.ones\(2\)\na, b = x\.unbind",),
    "inputs are moved along directions too, which have no index": (
        r"calls = \[\]\ndef f\(x\):\n(.*\n){2}m\.autograd\.gradcheck",
    ),
    "a number stands for the size of a vector, as in zeros": (
        r"full\(2, 1\.0\)",
        r"randint\(3, 2\)",
    ),
    "sizes are refused as a whole, where PyTorch unpacks them one by one": (
        r'm\.ones\(2, "a"\)',
        r"\(2, 2\.5\)",
    ),
    "Python's own words for a number that is no integer, or too large": ("manual_seed",),
    "the object is looked at before the folder": (r"m\.save\(lambda",),
    "PyTorch's assertion, or what waits for complex arithmetic": (r"complex64\)\nA",),
    "what is no dict of hooks is refused where it is set": ("_backward_hooks = 3",),
    "PyTorch takes any word for a profile, and does nothing": (r"set_printoptions\(profile",),
    "what the engine set is not to be written": ("needs_input_grad = 3",),
    "the memory of a batched tensor is that of all entries": (r"x\.resize_\(3\)\)",),
    "a negative size is refused as everywhere": (
        r"as_strided\(\(-2,\)",
        r"resize_\(-1\)",
    ),
    "PyTorch names the C++ function": ("heaviside",),
    "PyTorch forgets complex dtypes here, and names them in the setter": ("^only Tensors of floating point dtype can",),
    "the term of the equation is told that is wrong": (
        r"^einsum\(i1,",
        r'^m\.einsum\("i\.j',
    ),
    "only one of PyTorch's two ways to compute attention refuses a mask besides is_causal": (
        r"m\.ones\(2, 4\), is_causal=True",
    ),
    "PyTorch tells of the op inside": (
        r"m\.baddbmm\(m\.ones\(1\)",
        r"local_response_norm\(m\.ones\(2, 3, 4\), 0",
        r"^linalg\.vecdot",
        r"^nn\.functional\.scaled_dot.*4x2,4x2",
    ),
    "PyTorch stumbles over an axis": (
        r"bilinear\(m",
        r"^baddbmm\(2x4,",
        r"index_add_\(0, m\.tensor\(\[0, 1\]\), m\.tensor\(1",
        r"F\.batch_norm\(m\.ones\(2\), None",
        r"F\.unfold\(m\.ones\(4, 4\), 2\)",
    ),
    "PyTorch multiplies in place inside": (r"^nn\.functional\.binary_cross_entropy_with_logits\(3,3,weight",),
    "PyTorch reads labels that are not there": (r"F\.ctc_loss\(m\.ones\(4, 1, 3\), m\.tensor\(\[\[(1\.5|1, 7)",),
    "PyTorch counts arguments of C++": ("^expected Tensor as element",),
    "an IndexError, as for every axis that is not there": (r"m\.unflatten\(m\.tensor\(1\.0\)",),
    "PyTorch takes what it cannot print with": (r"set_printoptions\(threshold",),
    "tensors have the buffer protocol here": ("^memoryview",),
    "a batched tensor may require grad here, or says why not": (
        r"x\.(register_hook|retain_grad|requires_grad_)\(.*m\.ones\(3, 2",
    ),
    "the method that read it has another name": (r"x in m\.ones\(2\)\)\(m\.ones\(3\)",),
    "an IndexError, as without vmap": (r"index_select\(0, m\.tensor\(\[5\]\)\)\)",),
    "views of elements of another size are not there yet": (r"\.view\(m\.(float64|uint8)\)",),
    "the generated rule refuses mark_dirty first": (r"ctx\.mark_dirty\(inputs\[0\]\)\nm\.func\.vmap",),
    "structures are printed as trees of *": ("TreeSpec",),
    "no batching: another way to say so": (
        r"masked_select\(x, x > 0\)",
        r"m\.(equal|allclose)\(x, x\)",
        r"out=m\.ones\(2\)\)\)\(m\.ones\(3, 2\)\)",
    ),
    "refused for drawing, before it is for writing": (r"bernoulli_\(x\), randomness",),
    "PyTorch tells the sizes of the whole batch": (
        r"c\.(add|mul)_\(x\)\)\(m\.ones\(3",
        r"x @ m\.ones\(3\)",
    ),
    "a tensor is refused where a number is wanted": (r"m\.(arange|linspace|full)\((0, |\(2,\), )?x",),
    "PyTorch offers an error of its own as the other cause": (r"s\[0\] \+ 1",),
    "refused as every op in place that would change the shape of its tensor": ("^addmm.*_ ",),
    "PyTorch tells of the op inside that stumbles": (r"^nn\.functional\.embedding\(.*max_norm",),
    "PyTorch's phrase lacks its subject": ("^ldexp.*_ int64",),
    "PyTorch says it in other words for one loss of many": ("gaussian_nll_loss.*most",),
    "the kind of the argument is refused as everywhere": (r"^unravel_index\(1:int64,a",),
    "PyTorch tells of the op inside, which has an axis more": (r"^histogram\(3,2,weight=2\)",),
    "max_pool1d's words; PyTorch runs max_pool2d, and tells of H and W": (r"^nn\.functional\.max_pool1d_with_indices",),
    "PyTorch calls a list of a wrong length an internal error": (
        r"adaptive_max_pool3d(_with_indices)?\(2x3x5x6x7,\[2,2,2,2\]",
    ),
}

# What is to be as in PyTorch. A pattern that nothing needs any more may stay until it is struck out.
NOT_YET: dict[str, tuple[str, ...]] = {
    # Ops on inference tensors record here; that those on nothing else do not is to be settled with the modes.
    "a leaf made in inference mode": (r"inference_mode\(\):\n    x = m\.ones\(2, requires_grad=True\)",),
    # The base class takes the argument, and is named where it is missing.
    "the class that misses an argument": (r"set_grad_enabled\(\)",),
}

DIFFERENCES = tuple(
    pattern for reasons in (ACCIDENTS, PROGRAMS) for patterns in reasons.values() for pattern in patterns
)
PENDING = tuple(pattern for patterns in NOT_YET.values() for pattern in patterns)
