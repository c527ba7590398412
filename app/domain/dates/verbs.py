"""Word lists that tell a change from a state and from an event."""

# Verbs after which a new state holds, in the past: "I became vegan".
CHANGES = frozenset(
    """
    moved switched became began started joined quit stopped retired resigned converted relocated
    transferred migrated upgraded downgraded adopted enrolled enlisted subscribed unsubscribed
    replaced married divorced separated settled emigrated immigrated ditched inherited rebranded
    commenced qualified swapped renamed reopened left changed went turned took gave got cut broke
    split signed lost dropped bought sold cancelled canceled opened hired promoted appointed fired
    banned installed had came weaned
    """.split()
)

# Of these only some uses are changes: "I took over the team" is one, "I took a pill" is none.
CHANGES_BEFORE: dict[str, frozenset[str]] = {
    "transferred": frozenset("to from into".split()),
    "converted": frozenset("to".split()),
    "relocated": frozenset("to from here".split()),
    "settled": frozenset("in down here there".split()),
    "changed": frozenset(
        "to from jobs job my our his her their teams careers banks schools doctors".split()
    ),
    "went": frozenset("vegan vegetarian freelance part full remote solo independent".split()),
    "turned": frozenset("vegan vegetarian".split()),
    "took": frozenset("over up".split()),
    "gave": frozenset("up".split()),
    "came": frozenset({"off"}),
    "weaned": frozenset("off myself".split()),
    "got": frozenset(
        "married engaged divorced promoted hired fired laid diagnosed rid pregnant".split()
    ),
    "cut": frozenset("out".split()),
    "broke": frozenset("up".split()),
    "split": frozenset("up from with".split()),
    "signed": frozenset("up".split()),
    "lost": frozenset(),
    "bought": frozenset(),
    "sold": frozenset(),
    "dropped": frozenset("out dairy gluten meat".split()),
}

# Of these only the ones with such a thing behind them: "I started a new job", but not "the car".
CHANGES_OF: dict[str, frozenset[str]] = {
    "started": frozenset(
        """
        job role position post degree course phd masters business company firm shop blog band diet
        internship apprenticeship training treatment medication therapy chemo antidepressants hrt
        school uni university college nursery kindergarten work physio insulin meds career
        relationship family garden channel podcast leave sabbatical placement residency fellowship
        programme program lessons classes shifts nights
        """.split()
    ),
    "left": frozenset(
        """
        job work company firm team husband wife partner boyfriend girlfriend school uni university
        college church band army navy role position post board party club practice agency
        """.split()
    ),
    "cancelled": frozenset(
        "membership subscription contract insurance gym netflix spotify".split()
    ),
    "opened": frozenset(
        "shop branch office account restaurant café cafe studio bakery salon bar pub".split()
    ),
    "had": frozenset("baby twins daughter son".split()),
    "cut": frozenset(
        "dairy sugar gluten meat alcohol caffeine coffee carbs wheat salt bread".split()
    ),
}
CHANGES_OF |= {"began": CHANGES_OF["started"], "canceled": CHANGES_OF["cancelled"]}

# Of these the ones that tell of a change without a thing too: "I started in May".
CHANGES_WITHOUT_OBJECT = frozenset({"started", "began"})

OWNING = frozenset("got lost bought sold".split())
TRANSFERS = frozenset("moved relocated transferred migrated".split())
POSSESSIVES = frozenset("my our his her their its".split())

# Words that end the object of a verb.
BEHIND_OBJECTS = frozenset(
    """
    at in on with to for from of by as into onto over after before since until during and but or so
    because when where that who which last this next yesterday today tonight tomorrow earlier two
    three four five six seven eight nine ten some several
    """.split()
)

# Things that make a doing of a moment of these verbs: "I changed my mind", "we switched seats".
MOMENTARY_THINGS = frozenset(
    """
    mind shirt clothes trousers shoes socks light lights lamp seats places sides seat queue line
    call chat zoom fight topic subject question page next tyre tire bulb battery batteries sheets
    nappy trains buses planes channel channels tabs class goal shower keys umbrella early lanes
    crying laughing raining snowing screaming bleeding barking shouting
    """.split()
)

# What one has from the day on which one "got" it, and does not have once one "lost" it.
POSSESSIONS = frozenset(
    """
    new braces dog puppy cat kitten pet car bike job flat apartment house phone laptop glasses cast
    pacemaker promotion tattoo piercing hamster rabbit horse allotment roommate flatmate
    """.split()
)

# And these uses are none: "I stopped at the shop", "I moved the meeting".
NO_CHANGES_BEFORE: dict[str, frozenset[str]] = {
    "stopped": frozenset("at by for to in off".split()),
    "moved": frozenset("the a an my our his her their this that it them on".split()),
    "fired": frozenset("up off".split()),
    "switched": frozenset("on off".split()),
    "became": frozenset("angry upset tired sad cross emotional hungry sleepy nervous".split()),
    "qualified": frozenset({"for"}),
    "joined": frozenset("them him hands forces".split()),
    "separated": frozenset("the".split()),
    "adopted": frozenset("on in by at".split()),
}

# Things with which such a verb tells of a doing of a moment: "we hired a van on Saturday".
NO_CHANGES_OF: dict[str, frozenset[str]] = {
    "hired": frozenset("car van bike boat minibus marquee hall venue skis costume suit".split()),
    "promoted": frozenset("book album gig show event product video".split()),
    "stopped": frozenset("car bus taxi clock timer video music train recording".split()),
    "changed": frozenset("order tune oil".split()),
    "installed": frozenset("update updates patch".split()),
}

# The same verbs in the present, which tell of a change to come: "I join Acme on Monday".
COMING_CHANGES: dict[str, frozenset[str]] = {
    "move": frozenset("to in into out from back house flat home abroad".split()),
    "switch": frozenset("to from over teams".split()),
    "change": frozenset("to jobs job teams".split()),
    "take": frozenset("over up on".split()),
    "taking": frozenset("over".split()),
    "moving": frozenset("to in into out from back house flat home abroad".split()),
    "switching": frozenset("to from over teams".split()),
    "going": frozenset("part part-time full full-time vegan freelance remote".split()),
    "go": frozenset("part part-time full full-time vegan freelance remote".split()),
    "joining": frozenset(),
    "join": frozenset(),
    "become": frozenset(),
    "becoming": frozenset(),
    "retire": frozenset(),
    "retiring": frozenset(),
    "start": frozenset(
        "as at with my a the in working on school uni university college nursery work".split()
    ),
    "starting": frozenset(
        "as at with my a the in working on school uni university college nursery work".split()
    ),
    "migrate": frozenset("to from".split()),
    "migrating": frozenset("to from".split()),
    "begin": frozenset("as at with my".split()),
    "transfer": frozenset("to".split()),
    "transferring": frozenset("to".split()),
    "relocate": frozenset("to".split()),
    "relocating": frozenset("to".split()),
}
# Of these also the ones of things: "our office moves to Leeds in June".
COMING_CHANGES_OF_THINGS = frozenset(
    "move moves moving switch switches switching change changes migrate migrates migrating".split()
)
COMING_CHANGES_OF_OTHERS = {
    f"{verb}es" if verb.endswith("ch") or verb == "go" else f"{verb}s": behind
    for verb, behind in COMING_CHANGES.items()
    if not verb.endswith("ing")
}
COMING_CHANGES |= COMING_CHANGES_OF_OTHERS

# The verbs of an ending in the present, which tell of one to come, and their past forms.
COMING_ENDS = {
    "leave": "left",
    "leaving": "left",
    "quit": "quit",
    "quitting": "quit",
    "stop": "stopped",
    "stopping": "stopped",
    "cancel": "cancelled",
    "cancelling": "cancelled",
    "canceling": "cancelled",
}

# Participles that tell of a change behind "was", "got" and "has been": "she was promoted".
PASSIVE_CHANGES = frozenset(
    """
    promoted hired appointed elected diagnosed laid fired transferred moved renamed banned suspended
    furloughed seconded adopted upgraded migrated reassigned demoted sacked dismissed
    redundant divorced discontinued married
    """.split()
)

# Participles of states: "was closed", "phones confiscated for a week".
STATE_PARTICIPLES = frozenset(
    """
    closed shut locked married employed based stationed grounded suspended banned enrolled
    registered retired divorced engaged stuck parked paused blocked frozen unemployed furloughed
    posted seconded staffed confiscated disabled
    capped reserved rented let occupied barred excluded signed allowed exempt limited restricted
    assigned attached involved interested separated
    """.split()
)

# Of these the ones that may also tell what was done on that day: "the deed was signed on Monday".
DOABLE_PARTICIPLES = frozenset(
    """
    closed shut registered enrolled parked paused blocked posted seconded confiscated disabled
    capped reserved rented let barred excluded signed limited restricted assigned attached
    """.split()
)

# Participles that tell of a state only with a stretch: "was run by Ben from 2010 to 2015".
STRETCHED_PARTICIPLES = frozenset(
    """
    run used owned managed headed led known called worn played made sold produced issued co-hosted
    hosted presented edited taught
    """.split()
)

# Past forms of verbs that tell of a lasting state or habit: "I lived in Bristol".
CORE_STATES = frozenset(
    """
    lived worked studied stayed rented owned wore volunteered interned freelanced commuted smoked
    lodged boarded
    """.split()
)
CORE_STATES |= frozenset({"living", "working", "studying", "staying", "renting", "wearing"})
STATES = CORE_STATES | frozenset(
    """
    served used ran led did spent lasted managed taught dated attended shared belonged played kept
    coached chaired
    commanded headed directed trained practised practiced cared represented hosted edited presided
    held spoke loved liked hated had drove rode took paid did sang covered supported
    """.split()
)

# Verbs of a lasting state in the present: "I live in Rome this summer".
PRESENT_STATES = frozenset(
    """
    live lives work works stay stays cover covers study studies teach teaches rent rents commute
    commutes
    """.split()
)

AUXILIARIES_PRESENT = frozenset("am is are 'm 're im youre theyre ain isn aren".split())
AUXILIARIES_PAST = frozenset("was were wasn weren".split())
SHORT_IS = frozenset("'s hes shes its whos thats".split())
HAVE = frozenset("have has 've haven hasn ive weve youve theyve".split())
FUTURE = frozenset("will 'll shall won gonna ill".split()) - {"ill"}
MODALS = frozenset(
    "would could should might may can must couldn wouldn shouldn cannot 'd ought cant".split()
)
DO_PAST = frozenset("did didn didnt".split())
DO_PRESENT = frozenset("do does don doesn dont doesnt".split())

# Things and doings that have a date of their own: the date next to them is theirs.
EVENTS = frozenset(
    """
    flight flights meeting meetings appointment appointments deadline deadlines birthday bday
    birthdays anniversary wedding exam exams interview interviews launch release concert party rent
    due bill invoice payment payday surgery operation op conference talk presentation delivery
    package parcel train bus reservation booking warranty passport visa visas licence license
    election hearing game match race marathon gig festival ceremony graduation funeral webinar demo
    review checkup kickoff cutover renewal expiry expires expire expired expiring renews renew born
    died scheduled rescheduled postponed booked delivered congress symposium expo summit convention
    award awarded released resignation accession album single novel championship tournament
    battle finalist semifinalist winner runner-up founder founding event events
    exhibition test tests appearance mocks prom retro tickets ticket scan results dentist vet mot
    census premiere
    """.split()
)

# Verbs that put an event at a date.
SCHEDULING = frozenset(
    """
    scheduled rescheduled postponed delayed pushed extended deferred booked planned slated due born
    expires expire expiring renews renew ends end arrives arrive leaves departs lands runs
    adjourned lapses opens closes
    """.split()
)
POSTPONING = frozenset(
    "postponed delayed pushed extended deferred moved adjourned put rescheduled booked".split()
)

# What is done once, and not for a time: "it must be renewed until 10 March" means "by".
DONE_ONCE = frozenset(
    """
    renewed submitted paid returned done filed handed completed delivered finished signed sent
    renew submit pay return file hand complete deliver finish sign send decide reply confirm cancel
    apply register
    """.split()
)
BEGINNINGS = frozenset("start begin open arrive come leave launch get go finish know hear".split())

# What goes "from 1800 to 1900" without being dated.
AMOUNTS = frozenset(
    """
    price prices salary budget cost costs calories score attendance population went rose fell grew
    dropped increased climbed
    """.split()
)

# Words that show a time that recurs.
RECURRING = frozenset("every each weekly monthly yearly annually usually".split())

# First words of a note on a state: "Closed until Friday", "Working from home".
STATE_OPENERS = STATE_PARTICIPLES | frozenset(
    """
    run owned managed headed led known called
    open single vegan vegetarian away off on out without in at pregnant sober available unavailable
    living working staying studying renting using covering valid active currently temporarily still
    not no banned barred insured visiting travelling traveling taking looking helping wearing
    sharing paying training
    """.split()
)
