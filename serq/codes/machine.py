"""SQ06xx: the run cannot go on."""

from __future__ import annotations

from serq.codes.entry import Code

RUN = "serq run example.sq --horizon 1000"

CODES: dict[str, Code] = {
    "SQ0601": Code(
        title="the guard is {value}, which is neither 0 nor 1 ({when})",
        help="write a test, for example `({value} > 0)`",
        why="A guard that is some other number is nearly always a forgotten comparison.",
        example=RUN,
    ),
    "SQ0602": Code(
        title="the work of this run is {value} ({when})",
        help="work is a number of tokens or a time, 0 or more",
        why="Negative work would let time run backwards.",
        example=RUN,
    ),
    "SQ0603": Code(
        title="index {value} names no member of `{name}`, which has {size} ({when})",
        help="members are numbered from 0 to {last}",
        why="A computed index must be a whole number below the size of its family.",
        example=RUN,
    ),
    "SQ0604": Code(
        title="the count of this `choose` is {value}, which is not a whole number ({when})",
        help="round it with `floor` or `ceil`",
        why="`choose` compares the members 0, 1, …, count - 1.",
        example=RUN,
    ),
    "SQ0605": Code(
        title="the session became ready more than 1 000 times at one instant ({when})",
        help="let time pass on every way through the loop: the work of its runs was 0",
        why="The clock would never move again.",
        example=RUN,
    ),
    "SQ0606": Code(
        title="the loop passed a million times without letting time pass ({when})",
        help="let the session wait on every way through the loop",
        why="The clock would never move again.",
        example=RUN,
    ),
    "SQ0607": Code(
        title="the iteration for a batch of {tokens} lasts {value} ({when})",
        help="`execute` must give a time above 0 for every batch that computes a token",
        why="An iteration that takes no time would be followed by another at the same instant, for ever.",
        example=RUN,
    ),
    "SQ0608": Code(
        title="`tokens cap` is {value} ({when})",
        help="a budget is 0 or more, as `max(0, …)` is; `inf` is no limit",
        why="Tokens are counted from 0. A budget of 0 leaves the engine idle, one below has no meaning.",
        example=RUN,
    ),
    "SQ0609": Code(
        title="a gap between arrivals is {value} ({when})",
        help="draw from a law that gives only positive, finite gaps",
        why="Sessions arrive one after the other; a gap of 0 or less would not let time pass.",
        example=RUN,
    ),
    "SQ0610": Code(
        title="the horizon comes first: {arrived} of {wanted} arrivals came, {live} are still live",
        help="run longer, or ask for fewer arrivals",
        why="A finite run reports on all of its sessions; one that is cut would leave some out silently.",
        example="serq run example.sq --horizon 1000 --arrivals 200",
    ),
    "SQ0611": Code(
        title="the run is done at {end}, which is not after the warm-up of {warmup}",
        help="shorten the warm-up, or ask for more arrivals",
        why="Statistics begin when the warm-up ends; nothing is left to report on.",
        example="serq run example.sq --horizon 1000 --warmup 500 --arrivals 20",
    ),
    "SQ0612": Code(
        title="a session ended at once, and `arrive closed` brought the next at the same instant ({when})",
        help="let every session run or wait for something",
        why="The clock would never move again.",
        example=RUN,
    ),
    "SQ0614": Code(
        title="loading {value} into `{name}` is too much: {units} allocated, {position} computed ({when})",
        help="take or `grow` enough units first",
        why="Loaded tokens are part of what the hold has allocated; they cannot be more than that.",
        example=RUN,
    ),
    "SQ0615": Code(
        title="the trace `{path}` cannot be read: {reason}",
        help="the path is relative to the program's file",
        why="A trace brings the turns of the workload; without it there is nothing to run.",
        example=RUN,
    ),
    "SQ0616": Code(
        title="the trace `{path}` has no turn",
        help="give at least one line `session,turn,new,out,think`",
        why="Every session replays a recorded one.",
        example=RUN,
    ),
    "SQ0617": Code(
        title="a line of a trace has 5 or 6 fields, this one has {got}",
        help="the fields are session,turn,new,out,think[,forced]; `serq trace convert` reads other formats",
        why="A line with a field missing would be read as another turn than the one recorded.",
        example=RUN,
    ),
    "SQ0618": Code(
        title="field `{field}` is `{text}`, which is not a number",
        help="write a plain decimal number; only the first line may be a heading",
        why="All fields of a trace are numbers.",
        example=RUN,
    ),
    "SQ0619": Code(
        title="register `{name}` is set to {value} ({when})",
        help="keep it finite: for no limit a large number will do; a division by 0 is `inf`",
        why="Later iterations compute with a register; one infinite value would spoil them all.",
        example=RUN,
    ),
    "SQ0620": Code(
        title="the hold on `{name}` has been released: nothing is left to grow or load ({when})",
        help="release it later, or not in this case",
        why="After `release` the session has no units there whose number or position could change.",
        example=RUN,
    ),
    "SQ0621": Code(
        title="`{draw}` has no law: {fault} ({when})",
        help="keep its parameters in their range, as `min` and `max` do",
        why="Numbers drawn with such parameters would follow no law that anybody has in mind.",
        example=RUN,
    ),
    "SQ0622": Code(
        title="the sample of `{name}` is not a number ({when})",
        help="0/0 and inf - inf have no value: observe under a `branch` that keeps such a case out",
        why="One sample that is not a number would make the mean of all of them none.",
        example=RUN,
    ),
    "SQ0623": Code(
        title="the time of the lease on `{name}` is not a number ({when})",
        help="0/0 and inf - inf have no value; a lease without an end is `lease {name} (inf)`",
        why="Nobody could say when the units come back.",
        example=RUN,
    ),
    "SQ0624": Code(
        title="a thousand gaps between arrivals hardly moved the clock, the last was {value} ({when})",
        help="draw longer gaps, or let sessions arrive together: `arrive batch(n)`",
        why="A clock is a double number: adding a gap too small for its last digit leaves it as it was.",
        example=RUN,
    ),
    "SQ0625": Code(
        title="a slot is to bring {value} sessions ({when})",
        help="draw a whole number from 0 to {most}, as `~poisson(m)` and `floor(…)` do",
        why="Sessions come in whole numbers.",
        example=RUN,
    ),
    "SQ0626": Code(
        title="the samples in `{path}` cannot be read: {reason}",
        help="the path is relative to the program's file",
        why="Without samples there is nothing to draw from.",
        example=RUN,
    ),
    "SQ0627": Code(
        title="this line is `{text}`, which is not a number",
        help="write one plain decimal number on a line; only the first line may be a heading, "
        "which begins with a letter",
        why="Every line is a sample, as likely to be drawn as any other.",
        example=RUN,
    ),
    "SQ0628": Code(
        title="the file `{path}` has no sample",
        help="give at least one line with a number",
        why="Without samples there is nothing to draw from.",
        example=RUN,
    ),
    "SQ0633": Code(
        title="`{name}` is an engine: it computes tokens and carries no evicted prefixes ({when})",
        help="name a stage: `stage link : fifo;` and `spill … via link (size / 8) …`",
        why="What is evicted is carried in a time of its own; an engine serves requests in iterations.",
        example=RUN,
    ),
    "SQ0631": Code(
        title="the session lost this hold of pool `{name}` and got it again without end ({when})",
        help="sessions take the units from each other: give pool `{name}` more of them, hold or grow less, "
        "or let the engine admit nobody after a preemption: `admit waiting while (running.preempted == 0)`",
        why="The clock would never move again: each session that is admitted preempts another one, which is "
        "admitted next.",
        example=RUN,
    ),
    "SQ0645": Code(
        title="there is no number {value} in `{name}`, which has {size} ({when})",
        help="keep the index a whole number from 0 to {last}",
        why="A computed index must name a number that is there.",
        example=RUN,
    ),
    "SQ0646": Code(
        title="the loops of this schedule passed more than a million times in one iteration ({when})",
        help="leave a loop with `break`, or loop over fewer",
        why="A schedule that never comes to its end would stop the clock.",
        example=RUN,
    ),
    "SQ0647": Code(
        title="tag `{name}` is set to {value} ({when})",
        help="keep it finite: for no limit a large number will do; a division by 0 is `inf`",
        why="Later decisions compute with a tag; one infinite value would spoil them.",
        example=RUN,
    ),
    "SQ0648": Code(
        title="a key of this loop is NaN ({when})",
        help="keep it a number: 0 / 0 gives NaN",
        why="What is no number is neither before nor after another; who comes first would be left to chance.",
        example=RUN,
    ),
    "SQ0613": Code(
        title="the demand on `{name}` is {value} ({when})",
        help="units are 0 or more",
        why="A hold takes a number of units; a negative one would add capacity.",
        example=RUN,
    ),
}
