"""What loaders do, in their own process or in that of a worker."""
