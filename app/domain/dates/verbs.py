"""Word lists that tell a change from a state and from an event."""

# Past forms of verbs after which a new state holds: "I moved to Lisbon".
CHANGES_PAST = frozenset(
    """
    moved switched became began started joined left quit stopped retired resigned changed converted
    relocated transferred migrated upgraded downgraded adopted enrolled enlisted subscribed
    unsubscribed replaced hired promoted appointed elected married divorced engaged separated
    diagnosed settled emigrated immigrated turned went ditched dropped cancelled canceled closed
    opened bought sold acquired took gave got inherited renamed rebranded merged founded launched
    signed registered swapped cut commenced finished graduated qualified adopted lost ended
    assumed succeeded reopened installed deleted deactivated activated enabled disabled deprecated
    expired lapsed broke split
    """.split()
)

# Of these only some uses are changes: the next words decide.
CHANGE_BY_NEXT = {
    "went": frozenset(
        "vegan vegetarian freelance part full back remote solo independent public on".split()
    ),
    "turned": frozenset("vegan vegetarian".split()),
    "took": frozenset("over up on".split()),
    "gave": frozenset("up".split()),
    "got": frozenset(
        """
        married engaged divorced promoted hired fired laid diagnosed a an my our the into rid
        """.split()
    ),
    "cut": frozenset("out back down".split()),
    "broke": frozenset("up".split()),
    "split": frozenset("up from with".split()),
    "signed": frozenset("up on off out".split()),
    "opened": frozenset(),
    "lost": frozenset("my his her their our".split()),
    "finished": frozenset(),
    "bought": frozenset(),
    "sold": frozenset(),
    "launched": frozenset(),
    "founded": frozenset(),
    "ended": frozenset(),
    "closed": frozenset(),
    "dropped": frozenset("out dairy gluten meat".split()),
    "graduated": frozenset(),
}

# Past forms of verbs that tell of a lasting state or habit: "I lived in Bristol".
STATES_PAST = frozenset(
    """
    was were lived worked studied served ran used wore owned led managed taught stayed dated
    attended rented shared belonged played kept coached chaired commanded headed directed
    volunteered trained practised practiced smoked boarded commuted cared interned freelanced
    represented hosted edited presided held spoke boxed lodged loved liked hated
    """.split()
)

AUXILIARIES_PRESENT = frozenset("am is are 'm 're im ain".split())
AUXILIARIES_PAST = frozenset("was were wasn weren".split())
HAVE = frozenset("have has 've haven hasn ive".split())
FUTURE = frozenset("will 'll shall won gonna".split())
MODALS = frozenset(
    "would could should might may can must couldn wouldn shouldn cannot 'd ought need needs".split()
)
DO_PAST = frozenset("did didn".split())
DO_PRESENT = frozenset("do does don doesn dont doesnt".split())

# Things that have a date of their own: the date beside them is theirs.
EVENTS = frozenset(
    """
    flight flights meeting meetings appointment appointments deadline deadlines birthday birthdays
    anniversary wedding exam exams interview interviews launch release concert party rent due bill
    invoice payment payday surgery operation conference talk presentation delivery package parcel
    train bus trip reservation booking warranty passport visa visas licence license lease contract
    election trial hearing session game match race marathon show gig festival event ceremony
    graduation funeral webinar demo review checkup check-up kickoff kick-off go-live cutover
    renewal subscription expiry expires expire expired expiring renews renew due born died
    scheduled rescheduled postponed booked birthdate dob delivered
    """.split()
)

# Verbs that put an event at a date.
SCHEDULING = frozenset(
    """
    scheduled rescheduled postponed delayed pushed extended deferred moved booked planned slated
    due born expires expire expiring renews renew starts start begins begin ends end arrives arrive
    leaves leave departs lands runs set adjourned
    """.split()
)

# Words that show a time that recurs.
RECURRING = frozenset(
    "every each weekly monthly yearly annually daily always usually mondays".split()
)

# Adjectives and participles of a state that open a note: "Closed until Friday".
STATE_OPENERS = frozenset(
    """
    closed open based employed married single vegan vegetarian retired away off on out suspended
    paused locked blocked grounded enrolled subscribed parked stuck booked available unavailable
    pregnant sober living working staying studying renting using covering valid active currently
    temporarily still not no banned barred insured
    """.split()
)
