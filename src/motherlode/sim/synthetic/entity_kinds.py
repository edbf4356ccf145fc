"""The kinds of things on the synthetic web. The table `KINDS` holds the properties of every kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from motherlode.sim.synthetic import word_lists as words
from motherlode.sim.synthetic.word_lists import Titles, listed


class Form(Enum):
    """How a value is written if a syntax has more than one form."""

    TEXT = "text"
    DATE = "date"
    DURATION = "duration"
    NUMBER = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityField:
    """One property of a kind of thing."""

    name: str
    """Name in the schema.org vocabulary."""
    value: Callable[[int], str] = str
    form: Form = Form.TEXT
    microformat: str = ""
    """The microformats2 property with its prefix. Empty if the microformat has no such property."""
    pool: tuple[str, ...] = ()
    """For properties with several values: the pool of distinct values."""
    least: int = 1
    most: int = 1
    type: str = ""
    """The schema.org type of a nested thing."""
    parts: tuple[EntityField, ...] = ()

    def repeats(self, bits: int) -> int:
        return self.least + (bits >> 33) % (self.most - self.least + 1)


class EntityKind(Enum):
    """The kinds of things that the synthetic web describes (or only mentions)."""

    RECIPE = "recipe"
    PRODUCT = "product"
    EVENT = "event"
    BOOK = "book"
    PERSON = "person"
    ARTICLE = "article"
    MOVIE = "movie"
    JOB = "job"
    PLACE = "place"
    DATASET = "dataset"
    COURSE = "course"
    REVIEW = "review"
    THREAD = "thread"
    PHOTO = "photo"
    MANUAL = "manual"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityKindFacts:
    """The properties of a kind."""

    type: str
    """Type in the schema.org vocabulary."""
    titles: Titles
    paths: tuple[str, ...]
    """Path names of sections with such things. No two kinds share a name."""
    stems: tuple[str, ...]
    """Names of hosts about such things."""
    fields: tuple[EntityField, ...]
    microformat: str = ""
    """The root class in microformats2, if any."""
    repeated: EntityField | None = field(init=False)
    """The property whose number of values varies between things."""

    def __post_init__(self) -> None:
        several = [one for one in self.fields if one.most > one.least]
        if len(several) > 1:
            raise ValueError(f"more than one repeated field in {self.type}")
        object.__setattr__(self, "repeated", several[0] if several else None)


def _pick(pool: tuple[str, ...], shift: int) -> Callable[[int], str]:
    return lambda bits: pool[(bits >> shift) % len(pool)]


def _number(low: int, high: int, shift: int) -> Callable[[int], str]:
    return lambda bits: str(low + (bits >> shift) % (high - low))


def _person(name: str, *, shift: int, microformat: str = "") -> EntityField:
    named = EntityField(name="name", value=lambda bits: words.person(bits >> shift), microformat="p-name")
    return EntityField(name=name, type="Person", parts=(named,), microformat=microformat)


def _organisation(name: str, *, shift: int, microformat: str = "") -> EntityField:
    named = EntityField(name="name", value=_pick(words.ORGANISATIONS, shift), microformat="p-name")
    return EntityField(name=name, type="Organization", parts=(named,), microformat=microformat)


def _place(name: str, *, shift: int, microformat: str = "") -> EntityField:
    parts = (
        EntityField(
            name="name", value=lambda bits: f"{_pick(words.COMPANIES, shift)(bits)} Hall", microformat="p-name"
        ),
        EntityField(name="address", value=_pick(words.CITIES, shift + 5), microformat="p-locality"),
    )
    return EntityField(name=name, type="Place", parts=parts, microformat=microformat)


def _dated(name: str, *, shift: int, microformat: str = "") -> EntityField:
    return EntityField(name=name, value=lambda bits: words.date(bits >> shift), form=Form.DATE, microformat=microformat)


def _lasting(name: str, *, shift: int, microformat: str = "") -> EntityField:
    minutes = _number(10, 100, shift)  # two digits, so that they sort as text too
    return EntityField(name=name, value=lambda bits: f"PT{minutes(bits)}M", form=Form.DURATION, microformat=microformat)


def _told(name: str, *, microformat: str = "") -> EntityField:
    return EntityField(name=name, value=_pick(words.SENTENCES, 41), microformat=microformat)


def _tags(name: str, *, least: int, most: int, microformat: str = "") -> EntityField:
    return EntityField(name=name, pool=words.TOPICS, least=least, most=most, microformat=microformat)


_OFFER = EntityField(
    name="offers",
    type="Offer",
    microformat="",
    parts=(
        EntityField(name="price", value=_number(3, 480, 20), form=Form.NUMBER),
        EntityField(name="priceCurrency", value=_pick(("EUR", "USD", "GBP", "JPY"), 30)),
    ),
)
_RATING = EntityField(
    name="reviewRating",
    type="Rating",
    parts=(EntityField(name="ratingValue", value=_number(1, 6, 22), form=Form.NUMBER),),
)
_GEO = EntityField(
    name="geo",
    type="GeoCoordinates",
    parts=(
        EntityField(name="latitude", value=lambda bits: f"{(bits >> 9) % 9000 / 100 - 45:.2f}", form=Form.NUMBER),
        EntityField(name="longitude", value=lambda bits: f"{(bits >> 17) % 18000 / 100 - 90:.2f}", form=Form.NUMBER),
    ),
)


def _named(titles: Titles, *, name: str = "name") -> EntityField:
    return EntityField(name=name, value=titles.title, microformat="p-name")


_DISHES = Titles(
    first=listed("Golden,Smoky,Slow,Quick,Crisp,Mild,Rustic,Sunday,Green,Roasted,Spiced,Simple"),
    second=listed("Lentil Soup,Apple Cake,Rice Pilaf,Bean Stew,Onion Tart,Potato Bake,Noodle Bowl,Pepper Salad,"
                  "Plum Crumble,Chickpea Curry,Corn Bread,Fish Pie"),
    third=listed("with Lemon,with Herbs,for Two,for a Crowd,from Grandmother,with Walnuts,in One Pot,with Saffron"),
)  # fmt: skip
_GOODS = Titles(
    first=listed("Folding,Solid,Compact,Classic,Woven,Quiet,Bright,Heavy,Travel,Garden,Studio,Winter"),
    second=listed("Lamp,Chair,Kettle,Backpack,Desk,Blanket,Toolbox,Clock,Mug,Shelf,Bicycle Bell,Notebook"),
    third=listed("in Blue,in Oak,Mark II,Large,for Children,Set of Four,in Steel,Limited"),
)
_OCCASIONS = Titles(
    first=listed("Open,Spring,Midnight,Annual,Harvest,Young,Silent,City,Winter,Riverside"),
    second=listed("Concert,Book Fair,Workshop,Lecture,Film Night,Market,Marathon,Exhibition,Hackathon,Choir Evening"),
    third=listed("at the Mill,on the Square,for Beginners,with Guests,in the Library,by the River"),
)
_VOLUMES = Titles(
    first=listed("The Secret,A Short,The Last,An Unfinished,The Northern,A Field,The Paper,The Second"),
    second=listed("History,Atlas,Garden,Letter,Voyage,Grammar,Almanac,Orchard,Lighthouse,Harbour"),
    third=listed("of Rain,of Bees,of the Islands,of Small Things,of Salt,of Maps,of Winter,of Strangers"),
)
_PEOPLE = Titles(first=words.FIRST_NAMES, second=words.LAST_NAMES, third=listed("at Home,at Work,online,and Friends"))
_POSTS = Titles(
    first=listed("Notes,Thoughts,Questions,News,Lessons,Letters,Ten Years,A Year"),
    second=listed("on Cycling,on Bread,on Old Maps,on Moving,on Trains,on Writing,on Gardens,on Repair,on Radio"),
    third=listed("Part One,Part Two,Again,Revisited,and After,in Pictures,in Short"),
)
_FILMS = Titles(
    first=listed("Midnight,Paper,Silver,Broken,Distant,Seven,Little,Northern"),
    second=listed("Bridges,Horses,Windows,Trains,Rivers,Promises,Gardens,Signals"),
    third=listed("in Autumn,Return,of Home,at Sea,Forever,Tonight"),
)
_POSITIONS = Titles(
    first=listed("Junior,Senior,Part-time,Lead,Remote,Assistant"),
    second=listed("Gardener,Archivist,Data Engineer,Nurse,Carpenter,Teacher,Cook,Editor,Surveyor"),
    third=listed("in Shifts,from May,for One Year,with Travel,at Once"),
)
_SIGHTS = Titles(
    first=listed("Old,Royal,Upper,Saint Anne,West,Lower,Merchants,Stone"),
    second=listed("Bridge,Market Hall,Observatory,Garden,Tower,Harbour,Library,Mill"),
    third=listed("and Park,Museum,Quarter,by Night,Viewpoint"),
)
_TABLES = Titles(
    first=listed("Monthly,Regional,Historic,Open,Annual,Daily"),
    second=listed("Rainfall,Bus Stops,Tree Register,Library Loans,Air Quality,School Places,River Levels,Budget"),
    third=listed("by District,since 1990,Summary,in Detail,Corrected,Preliminary"),
)
_LESSONS = Titles(
    first=listed("Introductory,Practical,Advanced,Evening,Intensive,Blended"),
    second=listed("Bookbinding,Statistics,Pottery,Spanish,Beekeeping,Programming,Choir,First Aid"),
    third=listed("I,II,for Teachers,at Weekends,Refresher"),
)
_THREADS = Titles(
    first=listed("Help,Question,Solved,Discussion,Poll,Strange"),
    second=listed("about Brakes,about Yeast,about Drivers,about Roses,about Visas,about Tax,about Cameras"),
    third=listed("please,again,since the update,with photos,any ideas"),
)

KINDS: dict[EntityKind, EntityKindFacts] = {
    EntityKind.RECIPE: EntityKindFacts(
        type="Recipe", microformat="h-recipe", titles=_DISHES,
        paths=("recipes", "dishes", "cook"), stems=("kitchen", "tastes", "recipes", "spoon"),
        fields=(
            _named(_DISHES), _told("description", microformat="p-summary"),
            _lasting("cookTime", shift=11, microformat="dt-duration"), _lasting("prepTime", shift=19),
            EntityField(name="recipeYield", value=_number(1, 9, 27), microformat="p-yield"),
            _person("author", shift=5, microformat="p-author"),
            _dated("datePublished", shift=15, microformat="dt-published"),
            EntityField(name="recipeIngredient", pool=words.INGREDIENTS, least=4, most=9, microformat="p-ingredient"),
        ),
    ),
    EntityKind.PRODUCT: EntityKindFacts(
        type="Product", microformat="h-product", titles=_GOODS,
        paths=("products", "shop", "catalogue"), stems=("goods", "store", "bazaar", "outfitters"),
        fields=(
            _named(_GOODS), _told("description", microformat="e-description"),
            EntityField(name="sku", value=lambda bits: f"SKU-{bits % 1_000_000:06}"),
            EntityField(name="brand", type="Brand", parts=(EntityField(name="name", value=_pick(words.COMPANIES, 8)),)),
            _OFFER,
        ),
    ),
    EntityKind.EVENT: EntityKindFacts(
        type="Event", microformat="h-event", titles=_OCCASIONS,
        paths=("events", "programme", "whats-on"), stems=("culture", "festival", "stage", "agenda"),
        fields=(
            _named(_OCCASIONS), _told("description", microformat="p-summary"),
            _dated("startDate", shift=6, microformat="dt-start"), _dated("endDate", shift=9, microformat="dt-end"),
            _place("location", shift=13, microformat="p-location"), _OFFER,
        ),
    ),
    EntityKind.BOOK: EntityKindFacts(
        type="Book", titles=_VOLUMES,
        paths=("books", "titles", "holdings"), stems=("library", "reading", "bookshelf", "press"),
        fields=(
            _named(_VOLUMES), _person("author", shift=7), _organisation("publisher", shift=10),
            EntityField(name="isbn", value=lambda bits: f"978{bits % 10_000_000_000:010}"),
            EntityField(name="numberOfPages", value=_number(48, 900, 21), form=Form.NUMBER),
            _dated("datePublished", shift=17), _tags("about", least=1, most=4),
        ),
    ),
    EntityKind.PERSON: EntityKindFacts(
        type="Person", microformat="h-card", titles=_PEOPLE,
        paths=("people", "members", "staff"), stems=("people", "circle", "society", "alumni"),
        fields=(
            EntityField(name="name", value=_PEOPLE.head, microformat="p-name"),
            EntityField(name="jobTitle", value=_POSITIONS.title, microformat="p-job-title"),
            EntityField(name="nationality", value=_pick(words.CITIES, 14), microformat="p-locality"),
            _dated("birthDate", shift=18, microformat="dt-bday"),
            _organisation("worksFor", shift=11, microformat="p-org"),
        ),
    ),
    EntityKind.ARTICLE: EntityKindFacts(
        type="BlogPosting", microformat="h-entry", titles=_POSTS,
        paths=("posts", "blog", "stories", "news"), stems=("journal", "gazette", "notes", "weblog"),
        fields=(
            _named(_POSTS, name="headline"), _dated("datePublished", shift=9, microformat="dt-published"),
            _person("author", shift=13, microformat="p-author"), _told("abstract", microformat="p-summary"),
            _tags("keywords", least=2, most=5, microformat="p-category"),
        ),
    ),
    EntityKind.MOVIE: EntityKindFacts(
        type="Movie", titles=_FILMS,
        paths=("movies", "films", "cinema"), stems=("cinema", "screen", "reels"),
        fields=(
            _named(_FILMS), _person("director", shift=9), _lasting("duration", shift=16),
            _dated("dateCreated", shift=20), _tags("genre", least=1, most=3),
        ),
    ),
    EntityKind.JOB: EntityKindFacts(
        type="JobPosting", titles=_POSITIONS,
        paths=("jobs", "vacancies", "careers"), stems=("careers", "employment", "vacancy"),
        fields=(
            _named(_POSITIONS, name="title"), _told("description"), _organisation("hiringOrganization", shift=9),
            _place("jobLocation", shift=14), _dated("datePosted", shift=19),
            EntityField(name="employmentType", value=_pick(("FULL_TIME", "PART_TIME", "CONTRACTOR"), 26)),
        ),
    ),
    EntityKind.PLACE: EntityKindFacts(
        type="Place", titles=_SIGHTS,
        paths=("places", "sights", "locations"), stems=("city", "region", "travel", "guide"),
        fields=(
            _named(_SIGHTS), _told("description"), EntityField(name="address", value=_pick(words.CITIES, 12)),
            EntityField(name="telephone", value=lambda bits: f"+00 {bits % 900_000 + 100_000}"), _GEO,
        ),
    ),
    EntityKind.DATASET: EntityKindFacts(
        type="Dataset", titles=_TABLES,
        paths=("datasets", "tables", "series"), stems=("data", "statistics", "observatory", "registry"),
        fields=(
            _named(_TABLES), _told("description"), _organisation("creator", shift=8),
            _dated("dateModified", shift=15), _tags("keywords", least=2, most=6),
        ),
    ),
    EntityKind.COURSE: EntityKindFacts(
        type="Course", titles=_LESSONS,
        paths=("courses", "classes", "modules"), stems=("college", "academy", "school"),
        fields=(
            _named(_LESSONS), _told("description"), _organisation("provider", shift=9),
            EntityField(name="courseCode", value=lambda bits: f"C{bits % 9000 + 1000}"),
        ),
    ),
    EntityKind.REVIEW: EntityKindFacts(
        type="Review", titles=_VOLUMES,
        paths=("reviews", "tests", "verdicts"), stems=("critic", "magazine", "verdict"),
        fields=(
            _named(_VOLUMES), _told("reviewBody"), _person("author", shift=6), _RATING,
            EntityField(name="itemReviewed", type="Thing", parts=(EntityField(name="name", value=_GOODS.title),)),
        ),
    ),
    EntityKind.THREAD: EntityKindFacts(
        type="DiscussionForumPosting", titles=_THREADS,
        paths=("threads", "topic", "viewtopic"), stems=("forum", "board", "talk"),
        fields=(_named(_THREADS, name="headline"), _person("author", shift=6), _dated("datePublished", shift=12)),
    ),
    EntityKind.PHOTO: EntityKindFacts(
        type="Photograph", titles=_SIGHTS,
        paths=("photos", "gallery", "albums"), stems=("gallery", "lens", "prints"),
        fields=(_named(_SIGHTS), _person("creator", shift=6), _dated("dateCreated", shift=12)),
    ),
    EntityKind.MANUAL: EntityKindFacts(
        type="TechArticle", titles=_LESSONS,
        paths=("manual", "docs", "handbook"), stems=("docs", "manual", "handbook"),
        fields=(_named(_LESSONS, name="headline"), _dated("dateModified", shift=12), _told("abstract")),
    ),
}  # fmt: skip
