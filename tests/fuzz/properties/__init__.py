"""What holds for every program: one idea a file. A property takes a function of tensors, and its arguments."""
