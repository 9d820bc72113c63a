"""Stages: the verbs in the order of the data flow. Each reads rows by id and appends rows."""
