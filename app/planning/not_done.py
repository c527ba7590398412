"""What a store did not do of what judges proposed, and why.

It is found by comparing the finished plan with the judgments that it was made from.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from uuid import UUID

from app.domain.chains import Chains
from app.domain.policy import Policy
from app.domain.relation import Decision, Judge, Judgment, Operation, Relation
from app.planning.opinions import (
    JudgedMemory,
    NotDone,
    Reason,
    build_judged_memory,
    describe_judged_memory,
    find_proposed,
)
from app.planning.plan import Plan, ReviewSource

# A log row has the opinions on so many memories. Candidates come likeliest first.
MAX_JUDGED = 10


@dataclass(frozen=True, slots=True)
class Judging:
    """How a fact was judged before it was planned.

    `judgments` are those of all judges. `moved` are the memories that changed since. If the
    `gate_closed`, a model is set and was not asked. `failure` says why the model gave no whole
    answer. A fact that was not `compared` was shown to no judge.
    """

    judgments: tuple[Judgment, ...] = ()
    moved: AbstractSet[UUID] = frozenset()
    gate_closed: bool = False
    failure: str | None = None
    compared: bool = True

    @property
    def by_model(self) -> list[Judgment]:
        return [each for each in self.judgments if each.decided_by is Judge.MODEL]


def explain_plan(plan: Plan, judging: Judging, chains: Chains, policy: Policy) -> Plan:
    """Return the plan with what it does not do, and with a decision that says so."""
    done = {*plan.touched, plan.target}
    joined = {insertion.version.chain_id for insertion in plan.inserted}
    not_done: list[NotDone] = []
    for judgment in judging.judgments:
        memory_id = judgment.memory_id
        is_joined = (
            chains.has_version(memory_id) and chains.get_version(memory_id).chain_id in joined
        )
        proposed = find_proposed(judgment)
        if proposed is not None and memory_id not in done and not is_joined:
            reason = _find_reason(plan, judgment, judging, policy)
            not_done.append(NotDone(judgment, proposed, reason))
    decision = _decide_truly(plan, judging, not_done)
    return replace(plan, not_done=tuple(not_done), decision=decision)


def _find_reason(plan: Plan, judgment: Judgment, judging: Judging, policy: Policy) -> Reason:
    if judgment.memory_id in judging.moved:
        return Reason.MOVED
    review = plan.review
    if review and any(each.memory_id == judgment.memory_id for each in review.judgments):
        return Reason.CAP if review.source is ReviewSource.CAP else Reason.IN_REVIEW
    if judgment.relation.effect.changes_stored:
        if not policy.allows_operation(judgment.relation.effect.operation):
            return Reason.SETTING
        return Reason.UNSURE if judgment.flag or not policy.is_sure(judgment) else Reason.UNFIT
    return _find_overruling(judgment, judging)


def _find_overruling(judgment: Judgment, judging: Judging) -> Reason:
    """Return the reason why a change that one judge saw is not the judgment."""
    if judgment.vetoes:
        return Reason.VETO
    if judgment.decided_by is Judge.MODEL:
        return Reason.MODEL_NONE
    if judging.failure:
        return Reason.FAILED
    if judging.gate_closed:
        return Reason.GATE_CLOSED
    objects = any(
        opinion.decided_by is Judge.LOCAL and not opinion.relation.effect.changes_stored
        for opinion in judgment.opinions
    )
    return Reason.OBJECTED if objects else Reason.UNSURE


# --- the decision ------------------------------------------------------------------------------


def _decide_truly(plan: Plan, judging: Judging, not_done: Sequence[NotDone]) -> Decision:
    """Return the plan's decision; of a fact that changes nothing, say who saw what.

    The confidence is that of the relation in the decision. That of a relation which waits in a
    review stands in the review.
    """
    decision = plan.decision
    if plan.operation is not Operation.ADD or decision.relation.effect.changes_stored:
        return decision
    if judging.failure and not judging.judgments:
        reasoning = f"The model gave no answer ({judging.failure}), so nothing was compared."
        return replace(decision, reasoning=reasoning)
    if plan.review is not None:
        return replace(decision, decided_by=Judge.FALLBACK, confidence=1.0)
    if not_done:
        return _decide_against(decision, not_done)
    if by_model := judging.by_model:
        related = [each for each in by_model if each.relation is not Relation.NONE]
        nearest = (related or by_model)[0]
        reasoning = "The model saw no change in anything stored."
        return Decision(nearest.relation, nearest.confidence, Judge.MODEL, reasoning)
    if not judging.compared and decision.decided_by is Judge.RULE:
        return replace(decision, reasoning="No judge compared it with what is stored.")
    return decision


def _decide_against(decision: Decision, not_done: Sequence[NotDone]) -> Decision:
    """Return the decision of the judge whose word counted against the likeliest proposal."""
    first = max(not_done, key=_compute_likelihood)
    sentence = describe_judged_memory(build_judged_memory(first.judgment, first))
    others = len(not_done) - 1
    if others:
        sentence += f" The same or less was seen in {others} more."
    judgment = first.judgment
    against = [
        opinion for opinion in judgment.opinions if not opinion.relation.effect.changes_stored
    ]
    if against:
        # Judges are asked in the order of their weight.
        last = against[-1]
        return Decision(last.relation, last.confidence, last.decided_by, sentence)
    if first.reason is Reason.MODEL_NONE:
        return Decision(judgment.relation, judgment.confidence, judgment.decided_by, sentence)
    return Decision.certain(decision.relation, Judge.RULE, sentence)


def _compute_likelihood(not_done: NotDone) -> float:
    """Return how sure the judge was who saw what was not done."""
    judgment, relation = not_done.judgment, not_done.relation
    seen = [each.confidence for each in judgment.opinions if each.relation is relation]
    seen += [each.confidence for each in judgment.findings if each.relation is relation]
    return max(seen, default=judgment.confidence)


# --- the log row -------------------------------------------------------------------------------


def list_judged_memories(plan: Plan) -> list[JudgedMemory]:
    """Return the opinions on the memories in which a judge saw something, MAX_JUDGED at most.

    What a rule saw is certain, and the decision says it, unless it was not done. Memories that are
    alike but vetoed come last.
    """
    not_done = {each.memory_id: each for each in plan.not_done}
    judgments = {judgment.memory_id: judgment for judgment in plan.judgments}
    judgments |= {each.memory_id: each.judgment for each in plan.not_done}
    judged: list[JudgedMemory] = []
    vetoed: list[JudgedMemory] = []
    for memory_id, judgment in judgments.items():
        open_one = not_done.get(memory_id)
        if open_one is None and judgment.decided_by is Judge.RULE:
            continue
        if find_proposed(judgment) is not None:
            judged.append(build_judged_memory(judgment, open_one))
        elif judgment.vetoes and judgment.akin:
            vetoed.append(build_judged_memory(judgment, None))
    return [*judged, *vetoed][:MAX_JUDGED]
