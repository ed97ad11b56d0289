//! What an op takes in the place of a tensor: references, tensors, numbers. Empty as yet.
