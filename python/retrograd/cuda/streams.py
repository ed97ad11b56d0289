"""The classes of streams and events, of which there is nothing."""

from retrograd import cuda as _cuda

globals().update({name: vars(_cuda)[name] for name in ("Event", "ExternalStream", "Stream")})
