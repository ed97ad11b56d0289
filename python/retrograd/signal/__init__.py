"""Signal processing: windows."""

from retrograd.signal import windows as windows
