"""Equal layers in a program: how they are found (`tokens`, `runs`, `borders`) and put into functions (`outline`)."""
