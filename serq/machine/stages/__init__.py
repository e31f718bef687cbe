"""The stages that serve: `engine` in iterations, `rate` at rate 1; `base` is what they share."""
