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

/** Names under which clients show common reactions; any other emoji is shown as itself. */
const NAMES: Readonly<Record<string, string>> = {
  '👍': 'thumbs_up',
  '👎': 'thumbs_down',
  '👏': 'clapping_hands',
  '🙌': 'raising_hands',
  '🙏': 'folded_hands',
  '👌': 'OK_hand',
  '👀': 'eyes',
  '💪': 'flexed_biceps',
  '🎉': 'party_popper',
  '🚀': 'rocket',
  '🔥': 'fire',
  '⭐': 'star',
  '✨': 'sparkles',
  '💯': 'hundred_points',
  '✅': 'check_mark_button',
  '❌': 'cross_mark',
  '❤️': 'red_heart',
  '💔': 'broken_heart',
  '😀': 'grinning_face',
  '😄': 'grinning_face_with_smiling_eyes',
  '😂': 'face_with_tears_of_joy',
  '😍': 'smiling_face_with_heart-eyes',
  '😕': 'confused_face',
  '😞': 'disappointed_face',
  '😢': 'crying_face',
  '😡': 'enraged_face',
  '🤔': 'thinking_face',
  '🤖': 'robot',
  '🐛': 'bug',
  '💩': 'pile_of_poo',
}

export const emojiCount = (text: string): number => text.match(EMOJI)?.length ?? 0

/** Removes skin tones. */
export const detoned = (text: string): string => text.replaceAll(/\p{EMod}/gu, '')

/** Each emoji as its name between colons, with its skin tone: `:thumbs_up_dark_skin_tone:`. */
export const aliasOf = (text: string): string =>
  text.replaceAll(EMOJI, (emoji) => {
    const name = NAMES[detoned(emoji)]
    const tone = /\p{EMod}/u.exec(emoji)?.[0]
    if (name === undefined) return emoji
    return tone === undefined ? `:${name}:` : `:${name}_${TONES[tone]!}_skin_tone:`
  })
