const FIRST = String.raw`\p{Emoji}(?:\p{EMod}|\uFE0F?\u20E3|\uFE0F)?(?:[\u{E0020}-\u{E007E}]+\u{E007F})?`

/** One rendered emoji: a flag, a keycap, or a zero-width-joiner sequence (Unicode UTS 51, 1.4.9). */
const EMOJI = new RegExp(
  String.raw`\p{RI}\p{RI}|[#*0-9]\uFE0F?\u20E3|(?![#*0-9])${FIRST}(?:\u200D${FIRST})*`,
  'gu',
)

const TONES: Readonly<Record<string, string>> = {
  '\u{1F3FB}': 'light',
  '\u{1F3FC}': 'medium-light',
  '\u{1F3FD}': 'medium',
  '\u{1F3FE}': 'medium-dark',
  '\u{1F3FF}': 'dark',
}

/**
 * The English name of an emoji in the list of Unicode, such as `man white hair`; undefined for an unknown one. The emoji is
 * given without skin tones and variation selectors.
 */
export type EmojiName = (emoji: string) => string | undefined

export const withoutVariation = (text: string): string => text.replaceAll('\uFE0F', '')

export const emojiCount = (text: string): number => text.match(EMOJI)?.length ?? 0

/** Removes skin tones. */
export const detoned = (text: string): string => text.replaceAll(/\p{EMod}/gu, '')

/**
 * Each emoji as its name between colons, with its skin tones: `:thumbs_up_dark_skin_tone:`. These are the names of Python's
 * package `emoji`. An emoji without a name stays as it is.
 */
export const aliasOf = (text: string, nameOf: EmojiName): string =>
  text.replaceAll(EMOJI, (emoji) => {
    const name = nameOf(withoutVariation(detoned(emoji)))
    if (name === undefined) return emoji
    const tones = [...new Set(emoji.match(/\p{EMod}/gu))].map((tone) => ` ${TONES[tone]!} skin tone`).join('')
    return `:${written(toned(name, tones))}:`
  })

/** The tone comes before the hair of a person. */
const toned = (name: string, tones: string): string =>
  PERSON.test(name) ? name.replace(PERSON, `$1${tones}`) : name + tones

const PERSON = /^(man|woman|person)(?= (\w+ hair|bald|beard)$)/

const written = (name: string): string =>
  name
    .replace(/^flag (?!in hole$)/, '')
    .replaceAll(' - ', '-')
    .replaceAll(/[,:“”]/g, '')
    .replaceAll(' ', '_')
