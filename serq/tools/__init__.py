"""What a person types: the command line, and the files it reads and writes.

In: arguments and files. Out: reports, messages, exit codes. Imports: the front door (`serq`) and
what it is wired from. Grows: a command is a function in `cli`; a tool with a life of its own is a
file here.
"""
