"""What the profiler is made of; `autograd.profiler` and `autograd.profiler_util` are its public faces.

events    what was recorded: events, and their averages
formats   how times and sizes are written
tree      which event holds which
table     averages as text
lists     lists of events, which can do all of this
trace     files for trace viewers
memory    records of memory
nvprof    events from the files of nvprof
steps     counters of steps
"""
