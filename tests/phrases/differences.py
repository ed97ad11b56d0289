"""Where retrograd says something else than PyTorch on purpose, and why.

Each entry is a pattern, searched in the program (or the name of a refusal) or in PyTorch's message, and the reason. One
that nothing needs any more fails the tests.
"""

# By what PyTorch says: it did not check, and this is how it stumbled.
ACCIDENTS = {
    r"has no attribute|has no len\(\)|not supported between instances|is not subscriptable|object is not callable":
        "PyTorch stumbles over an argument of a wrong type, which is refused here by its name",
    r"division by zero|by zero$|arg 3 must not be zero|pop from empty list|^slice\(\) cannot be":
        "PyTorch stumbles over a value, which is refused here by its name",
    r"^Padding_idx must be within|missing 1 required positional argument: 'x'$|x\.__dlpack__\(\)\)|^Expected output to be a|^Expected gradient function to be set|^invalid index of a 0-dim|INTERNAL ASSERT":
        "an assertion inside PyTorch, which is refused here by what the user gave",
    r"^unsupported operand type\(s\) for \*: 'Tensor' and 'Tensor'$":
        "PyTorch turns a TypeError of a hook into one of the operator; here it passes as it is",
    r"_vjp_with_argnums|insert a get_attr Node|There is a performance drop": "PyTorch's inner functions",
    r"^Expected one of cpu, cuda": "PyTorch lists its devices, which are not there",
    r"lanczos": "PyTorch has one mode more, which is not there",
}

# By the program, or by the name of a refusal.
PROGRAMS = {
    r"grad\(\[x \* 2\], x, \[m.ones\(2\), m.ones\(2\)\]\)": "PyTorch drops the gradient that there is no output for",
    r"graph\.Node\(\)": "PyTorch's abstract class has private methods more",
    r"grad_fn\.(metadata|next_functions) = |^x = .*\ntype\(\(x \* 2\)\.grad_fn\)\(\)": "nodes of ops are of one class here",
    r"y\.mul_\(y\)": "of two tensors that were written to, another one is unpacked first",
    r"^x = m\.ones\(2\)\na, b = x\.unbind": "PyTorch says that the view was made in no_grad, where it was not",
    r"calls = \[\]\ndef f\(x\):\n(.*\n){2}m\.autograd\.gradcheck": "inputs are moved along directions too, which have no index",
    r"return g \* 2\nm\.autograd\.gradcheck": "gradcheck names what it gave the rule; PyTorch lets the rule's TypeError pass",
    r"full\(2, 1\.0\)|new_full\(2": "a number stands for the size of a vector, as in zeros",
    r"broadcast_shapes\(\"a\"\)": "a string is refused as no shape",
    r"m\.ones\(2, \"a\"\)|\(2, 2\.5\)": "sizes are refused as a whole, where PyTorch unpacks them one by one",
    r"manual_seed": "Python's own words for a number that is no integer, or too large",
    r"m\.save\(lambda": "the object is looked at before the folder",
    r"complex64\)\nA|to\(m\.complex64\)|^fill\(3,1j\)": "PyTorch's assertion, or what waits for complex arithmetic",
    r"set_printoptions\(profile": "PyTorch takes any word for a profile, and does nothing",
    r"needs_input_grad = 3": "what the engine set is not to be written",
    r"x\.resize_\(3\)\)": "the memory of a batched tensor is that of all entries",
    r"as_strided\(\(-2,\)": "a negative size is refused as everywhere",
    r"m\.func\.(vjp|linearize)\(lambda x: x( \* 2)?\)$": "refused before the function is called",
    r"heaviside": "PyTorch names the C++ function",
    r"^only Tensors of floating point dtype can": "PyTorch forgets complex dtypes here, and names them in the setter",
    r"^m\.einsum\(\"i\.j": "the term is told that has the dot, not the operand",
    r"m\.baddbmm\(m\.ones\(1\)|m\.dist\(|local_response_norm\(m\.ones\(2, 3, 4\), 0": "PyTorch tells of the op inside",
    r"bilinear\(m|^baddbmm\(2x4,|index_add_\(0, m\.tensor\(\[0, 1\]\), m\.tensor\(1": "PyTorch stumbles over an axis",
    r"_cell\(": "sizes of cells are refused by the ops inside",
    r"p=\"nuc\"": "nuclear norms are not there yet",
    r"^expected Tensor as element": "PyTorch counts arguments of C++",
    r"m\.unflatten\(m\.tensor\(1\.0\)": "an IndexError, as for every axis that is not there",
    r"set_printoptions\(threshold": "PyTorch takes what it cannot print with",
    r"^memoryview": "tensors have the buffer protocol here",
    r"x\.(register_hook|retain_grad|requires_grad_)\(.*m\.ones\(3, 2": "a batched tensor may require grad here, or says why not",
    r"x in m\.ones\(2\)\)\(m\.ones\(3\)": "the method that read it has another name",
    r"index_select\(0, m\.tensor\(\[5\]\)\)\)": "an IndexError, as without vmap",
    r"del m\.ones\(2\)\.requires_grad": "PyTorch calls the setter with nothing",
    r"\.view\(m\.(float64|uint8)\)": "views of elements of another size are not there yet",
    r"ctx\.mark_dirty\(inputs\[0\]\)\nm\.func\.vmap": "the generated rule refuses mark_dirty first",
    r"TreeSpec": "structures are printed as trees of *",
    r"x\.tolist\(\)\)|x\.numpy\(\)\)|x\.data_ptr\(\)": "PyTorch tells of memory that its wrapper lacks",
    r"masked_select\(x, x > 0\)|m\.(equal|allclose)\(x, x\)|out=m\.ones\(2\)\)\)\(m\.ones\(3, 2\)\)": "no batching: another way to "
    "say so",
    r"bernoulli_\(x\), randomness": "refused for drawing, before it is for writing",
    r"c\.(add|mul)_\(x\)\)\(m\.ones\(3": "PyTorch tells the sizes of the whole batch",
    r"m\.(arange|linspace|full)\((0, |\(2,\), )?x": "a tensor is refused where a number is wanted",
    r"s\[0\] \+ 1": "PyTorch offers an error of its own as the other cause",
    r"x @ m\.ones\(3\)": "PyTorch tells the sizes of the whole batch",
    r"repeat_interleave\(x\.long|m\.bincount\(x\)\)": "PyTorch loops over the entries, and pads nothing: sizes would differ",
    r"^addmm.*_ ": "refused as every op in place that would change the shape of its tensor",
    r"^nn\.functional\.embedding\(.*max_norm": "PyTorch tells of the op inside that stumbles",
    r"^ldexp.*_ int64": "PyTorch's phrase lacks its subject",
    r"gaussian_nll_loss.*most": "PyTorch says it in other words for one loss of many",
    r"^block_diag\(2x3,1": "PyTorch counts arguments of C++",
    r"^linalg\.vecdot|^scaled_dot|^nn\.functional\.scaled_dot.*4x2,4x2|cumulative_trapezoid\(0d": "PyTorch tells of the op inside",
    r"^unravel_index\(1:int64,a": "the kind of the argument is refused as everywhere",
    r"^histogram\(3,2,weight=2\)": "PyTorch tells of the op inside, which has an axis more",
    r"^nn\.functional\.max_pool1d_with_indices": "max_pool1d's words; PyTorch runs max_pool2d, and tells of H and W",
    r"adaptive_max_pool3d(_with_indices)?\(2x3x5x6x7,\[2,2,2,2\]": "PyTorch calls a list of a wrong length an internal error",
}

# What is to be as in PyTorch; an entry that nothing needs any more may stay until it is struck out.
NOT_YET = {
    r"SavedTensor object from Python": "another type of exception",
    r"inference_mode\(\):\n    x = m\.ones\(2, requires_grad=True\)": "a leaf made in inference mode",
    r"list of numpy\.ndarrays is extremely slow|indexing with dtype @?\w*\.?uint8": "no warning",
    r"dtype Float does not match dtype of out": "out= of another dtype",
    r"meshgrid\(\)|m\.nonzero\(m\.ones\(2\), |reduce=\"sum\"\)$|^nonzero\(3,True\)": "signatures",
    r"chain_matmul\(\)|copy=3\)|m\.where\(x\)\)|randint\(3, 2\)|m\.Tensor\(2, |repeat\(\)|device\(\"cpu\", \"a\"\)|size\(\"a\"\)|__iadd__": "signatures",
    r"x\[0\] = (float\(\"nan\"\)|300)": "numbers that an integer cannot hold",
    r"autograd\.Variable\(3\)|del m\.ones\(2\)\.data": "not refused, or in other words",
    r"mutate a captured Tensor": "not refused",
    r"resize_\(-1\)|resize_\(2, 3, memory_format": "resize_",
    r"new_tensor\(m\.ones|ones\(2(, 2, 2)?\)\.T$": "no warning",
    r"m\.ones\(2, 4\), is_causal=True": "not refused",
}

DIFFERENCES = {**ACCIDENTS, **PROGRAMS}
