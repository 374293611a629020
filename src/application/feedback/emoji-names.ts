import { createRequire } from 'node:module'
import { withoutVariation, type EmojiName } from '../../domain/feedback/emoji.js'

/** The package is a JSON file, which Node 20 imports only as an experiment. */
const require = createRequire(import.meta.url)
const list = require('unicode-emoji-json') as Readonly<Record<string, { readonly name: string }>>

const names = new Map(Object.entries(list).map(([emoji, { name }]) => [withoutVariation(emoji), name]))

export const emojiName: EmojiName = (emoji) => names.get(emoji)
