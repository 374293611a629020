/** A part of a message, as it is shown. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'tool call'; readonly id: string; readonly name: string; readonly input: string }
  /** Of a tool that the provider runs. */
  | { readonly kind: 'tool result'; readonly id: string; readonly text: string }
  | { readonly kind: 'other'; readonly text: string }

export type Fields = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const listOf = (value: unknown): readonly Fields[] => arrayOf(value).filter(isObject)

/** Deeper values are not indented: that multiplies their length. */
const MAX_INDENTED_DEPTH = 16

const isDeep = (json: string): boolean => {
  let depth = 0
  for (const character of json) {
    if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > MAX_INDENTED_DEPTH) return true
  }
  return false
}

export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  const json = JSON.stringify(value)
  return isDeep(json) ? json : JSON.stringify(value, null, 2)
}

/** Without a text, the provider has encrypted the reasoning. */
export const reasoningOf = (text: unknown, encrypted?: unknown): readonly Part[] => {
  if (typeof text === 'string' && text !== '') return [{ kind: 'reasoning', text }]
  return typeof encrypted === 'string' ? [{ kind: 'reasoning', text: 'Encrypted by the provider.' }] : []
}

/** `id` is what the result names. */
export const callOf = (call: Fields, id: unknown, type?: string): readonly Part[] => {
  const { name = type, arguments: given, input, action, operation, queries, code } = call
  const found = [given, input, action, operation, queries, code].find((one) => one !== undefined)
  return [
    {
      kind: 'tool call',
      id: textOf(id),
      name: textOf(name),
      input: typeof found === 'string' ? prettier(found) : textOf(found),
    },
  ]
}

export const partsOf = (content: unknown): readonly Part[] => {
  if (content === undefined || content === null || content === '') return []
  if (!Array.isArray(content)) return [{ kind: 'text', text: textOf(content) }]
  return content.flatMap((part: unknown): readonly Part[] =>
    isObject(part) ? partOf(part) : [{ kind: 'text', text: textOf(part) }],
  )
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''

const partOf = (part: Fields): readonly Part[] => {
  const { text, thinking, signature, data, refusal, image_url } = part
  const type = typeof part['type'] === 'string' ? part['type'] : ''
  if (type === 'thinking' || type === 'reasoning')
    return reasoningOf([thinking, text, part['content']].find(isText), signature ?? data)
  if (typeof text === 'string') return [{ kind: 'text', text }]
  if (type === 'redacted_thinking') return reasoningOf(undefined, data)
  if (typeof refusal === 'string') return [{ kind: 'refusal', text: refusal }]
  if (type.endsWith('tool_use')) return callOf(part, part['id'])
  if (type.endsWith('tool_result'))
    return [{ kind: 'tool result', id: textOf(part['tool_use_id']), text: textOf(part['content']) }]
  const url = isObject(image_url)
    ? image_url['url']
    : (image_url ?? (type === 'image' ? imageIn(part['source']) : undefined))
  if (typeof url === 'string') return [{ kind: 'image', url }]
  return /^(document|image|(input_)?(image|file|audio))$/.test(type)
    ? [fileOf(part, type)]
    : [{ kind: 'other', text: textOf(part) }]
}

const imageIn = (source: unknown): string | undefined => {
  if (!isObject(source)) return undefined
  const { media_type, data, url } = source
  if (typeof url === 'string') return url
  return typeof data === 'string' && /^image\//.test(textOf(media_type))
    ? `data:${textOf(media_type)};base64,${data}`
    : undefined
}

const fileOf = (part: Fields, type: string): Part => {
  const of = [part['source'], part['file'], part['input_audio']].find(isObject) ?? part
  const { data = of['file_data'] } = of
  if (of['type'] === 'text' || of['type'] === 'content')
    return { kind: 'text', text: textOf(data ?? of['content']) }
  const name = part['filename'] ?? part['title'] ?? of['filename'] ?? type.replace('input_', '')
  const size = typeof data === 'string' ? `${Math.ceil((data.length * 3) / 4 / 1024)} KB` : undefined
  const about = [name, of['media_type'] ?? of['format'], size, of['url'] ?? of['file_url'] ?? of['file_id']]
  return { kind: 'file', text: about.filter(Boolean).map(textOf).join(', ') }
}

const prettier = (text: string): string => {
  try {
    // Numbers that a double cannot hold stay as they were written.
    return isDeep(text) || /\d{16}/.test(text) ? text : JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
