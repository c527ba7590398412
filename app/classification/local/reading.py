"""What the network reads of a text beside a stored one."""

from dataclasses import dataclass, replace

from app.domain.relation import Relation


@dataclass(frozen=True, slots=True)
class Reading:
    """The probability of each relation of an incoming text to a stored one. They sum to 1.

    `part` is the probability that the incoming text ends or changes only a part of what the stored
    one says. The fields stand in the order of the network's outputs.
    """

    none: float
    duplicate: float
    update: float
    contradiction: float
    retraction: float
    complement: float
    part: float

    @property
    def likeliest(self) -> tuple[Relation, float]:
        """The likeliest relation with its probability. What is ended in part is an update."""
        if self.ends >= max(self.none, self.duplicate, self.complement, self.part):
            return self.ending_relation, self.ends
        others = {
            Relation.NONE: self.none,
            Relation.DUPLICATE: self.duplicate,
            Relation.COMPLEMENT: self.complement,
            Relation.UPDATE: self.part,
        }
        relation = max(others, key=lambda each: others[each])
        return relation, others[relation]

    def describe(self) -> str:
        """Return the two likeliest relations with their probabilities, as "update 0.81"."""
        probabilities = {name: getattr(self, name) for name in self.__slots__}
        order = sorted(probabilities, key=lambda name: -probabilities[name])
        return ", ".join(f"{name} {probabilities[name]:.2f}" for name in order[:2])

    def deny_repetition(self) -> "Reading":
        """Return the reading of texts that are about the same and no repetition."""
        return replace(self, duplicate=0.0, complement=self.complement + self.duplicate)

    @property
    def ends(self) -> float:
        """The probability that the stored text no longer holds."""
        return self.update + self.contradiction + self.retraction

    @property
    def ending_relation(self) -> Relation:
        """How the stored fact ends if it does. It is retracted if that is likelier than not."""
        if self.retraction > self.update + self.contradiction:
            return Relation.RETRACTION
        return Relation.UPDATE if self.update >= self.contradiction else Relation.CONTRADICTION
