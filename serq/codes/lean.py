"""SQ08xx: outside what can be stated in Lean."""

from __future__ import annotations

from serq.codes.entry import Code

STATE = "serq emit-lean example.sq"

CODES: dict[str, Code] = {
    "SQ0801": Code(
        title="{what} cannot be stated in Lean",
        help="{cure}",
        why="A statement needs a meaning in Lean for every part of the program that can change an "
        "iteration. For this part there is none yet, and leaving it out would state a claim about "
        "another program.",
        example=STATE,
    ),
    "SQ0802": Code(
        title="{where} reads `{name}`, which has no meaning in Lean",
        help="here a statement can read {known}",
        why="The Lean model carries what one engine has without memory: its runs, those that wait "
        "for a slot, the batch, the clock, registers and three counters.",
        example=STATE,
    ),
    "SQ0803": Code(
        title="{what} is not a whole number that a statement can give",
        help="give it {wanted}",
        why="The Lean model counts tokens and sessions in whole numbers: constants, or for the lengths of "
        "runs also draws, which stand for any whole number in their range.",
        example=STATE,
    ),
    "SQ0804": Code(
        title="{what} is not held exactly",
        help="choose units in which the numbers are whole, or halves, quarters, eighths, … of whole "
        "numbers; the clock has no unit of its own",
        why="A run computes with binary fractions of 53 digits, where 0.1 is only nearly a tenth. "
        "Lean computes exactly, so it has to be clear which number is meant.",
        example=STATE,
    ),
    "SQ0805": Code(
        title="{where} divides by {divisor}",
        help="multiply both sides of the comparison by the divisor: `a / b <= c` becomes `a <= b * c`",
        why="A run gives infinity or not-a-number for a division by 0, and Lean gives 0. Only a "
        "constant other than 0 is safe to divide by.",
        example=STATE,
    ),
    "SQ0806": Code(
        title="`{function}` has no exact meaning in Lean",
        help="a statement can use + - * /, comparisons, && || !, ? :, min, max, abs, floor and ceil",
        why="Its values are real numbers that a run rounds, so that a claim about them would not be "
        "the claim that the run checks.",
        example=STATE,
    ),
    "SQ0807": Code(
        title="`execute` is not above 0 for every batch, as far as its ranges tell",
        help="add the fixed cost of an iteration, or write `max(m, …)` with the least duration m",
        why="A run stops with an error at an iteration that takes no time and then answers no claim. "
        "A statement about such a program would speak of runs that never end well.",
        example=STATE,
    ),
    "SQ0808": Code(
        title="{what} cannot be stated in Lean",
        help="a claim at the end can read `count`, `total` of what is the same for every session, and `now`; "
        "leave the others to runs",
        why="When everybody has come and ended, the Lean model knows how many sessions there were, and "
        "when that was. It keeps no record of what each of them observed.",
        example=STATE,
    ),
    "SQ0809": Code(
        title="{where} is nested more than {limit} levels deep",
        help="shorten the expression; every operator of a long sum is a level",
        why="Lean's elaborator works through an expression recursively and gives up on very deep ones.",
        example=STATE,
    ),
}
