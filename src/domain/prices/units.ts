/**
 * What a price may charge besides tokens: the figure of usage, its cost in a price, and the names of the figure in reports. The cost of
 * `isFlat` ones is the same in all tiers.
 */
export const UNITS = {
  web_search_requests: {
    cost: 'web_search_cost',
    one: 'a search by the provider',
    all: 'searches',
    isFlat: true,
    reported: ['web_search_requests', 'num_search_queries', 'search_units'],
  },
  requests: {
    cost: 'request_cost',
    one: 'a request, besides its tokens',
    all: 'requests',
    isFlat: true,
    reported: ['requests'],
  },
  seconds: {
    cost: 'second_cost',
    one: 'a second of audio',
    all: 'seconds',
    isFlat: false,
    reported: ['seconds', 'audio_seconds', 'prompt_audio_seconds', 'duration_seconds'],
  },
  characters: {
    cost: 'character_cost',
    one: 'a character',
    all: 'characters',
    isFlat: false,
    reported: ['characters', 'character_count', 'input_characters'],
  },
  images: {
    cost: 'image_cost',
    one: 'an image',
    all: 'images',
    isFlat: false,
    reported: ['images', 'image_count'],
  },
} as const

export type Unit = keyof typeof UNITS
export type UnitCost = (typeof UNITS)[Unit]['cost']
/** Units whose reports are not understood until a price charges them. */
export type ExtraUnit = Exclude<Unit, 'requests'>

export const UNIT_NAMES = Object.keys(UNITS) as readonly Unit[]
export const EXTRA_UNITS = UNIT_NAMES.filter((unit) => unit !== 'requests')

/** A value for each of some names. */
export const forEach = <Name extends string, Value>(names: readonly Name[], of: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<Name, Value>

/** A value for the cost of each unit. */
export const forEachCost = <Value>(of: (unit: Unit) => Value) =>
  Object.fromEntries(UNIT_NAMES.map((unit) => [UNITS[unit].cost, of(unit)])) as Record<UnitCost, Value>
