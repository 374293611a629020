import { SequenceInvalid } from './errors.js'

/**
 * Text as tokens: one for each byte of its UTF-8, and special tokens that separate messages. A rendered conversation is
 * `BEGIN`, then for each message its role, its content and `END_OF_TEXT`. Rendering only appends, so the prompt of the next
 * turn begins with the tokens of this prompt and its completion.
 */

export interface ChatMessage {
  readonly role: string
  readonly content: string
  /** 0 keeps a message of the assistant from being trained on. */
  readonly weight?: 0 | 1
}

const BEGIN = 256
const ROLES: Readonly<Record<string, number>> = {
  system: 257,
  developer: 257,
  user: 258,
  assistant: 259,
  tool: 260,
  function: 260,
}
/** Begins a message of any other role: the name of the role and `CONTENT` follow. */
const OTHER_ROLE = 261
const CONTENT = 262

/** Ends a message. */
export const END_OF_TEXT = 263

/** A multiple of 8, the width of a panel of the matrix kernel. */
export const VOCABULARY = 264

const ASSISTANT = ROLES['assistant']!

const roleTokens = (role: string): readonly number[] =>
  Object.hasOwn(ROLES, role) ? [ROLES[role]!] : [OTHER_ROLE, ...bytesOf(role), CONTENT]

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Ends with the token that asks for an assistant message. */
export const promptTokens = (messages: readonly ChatMessage[]): readonly number[] => [
  ...trainingTokens(messages, 'all').tokens,
  ASSISTANT,
]

/** The mask selects the tokens that an assistant samples: its content, unless that is empty, and `END_OF_TEXT`. */
export const trainingTokens = (
  messages: readonly ChatMessage[],
  turns: 'all' | 'last',
): { readonly tokens: readonly number[]; readonly mask: readonly boolean[] } => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const [tokens, mask]: [number[], boolean[]] = [[BEGIN], [false]]
  for (const [index, { role, content, weight }] of messages.entries()) {
    const isAsked = role === 'assistant' && (turns === 'all' || index === last)
    const isTrained = isAsked && weight !== 0 && content !== ''
    for (const token of roleTokens(role)) {
      tokens.push(token)
      mask.push(false)
    }
    for (const byte of bytesOf(content)) {
      tokens.push(byte)
      mask.push(isTrained)
    }
    tokens.push(END_OF_TEXT)
    mask.push(isTrained)
  }
  return { tokens, mask }
}

/** One token as text: empty for special tokens, U+FFFD for bytes that are no UTF-8 on their own. */
export const tokenText = (token: number): string => {
  if (token >= BEGIN) return ''
  return token < 0x80 ? String.fromCharCode(token) : '\ufffd'
}

/** The bytes of the text, without special tokens. */
export const bytesOfTokens = (tokens: readonly number[]): Uint8Array =>
  Uint8Array.from(tokens.filter((token) => token < BEGIN))

/** @throws SequenceInvalid */
export const checkTokens = (tokens: readonly number[]): void => {
  const unknown = tokens.find((token) => !Number.isInteger(token) || token < 0 || token >= VOCABULARY)
  if (unknown !== undefined)
    throw new SequenceInvalid(`Token ${unknown} is not in the vocabulary, which ends at ${VOCABULARY - 1}.`)
}
