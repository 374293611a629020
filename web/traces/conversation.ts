/** A part of a message, as it is shown. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'tool call'; readonly name: string; readonly input: string }
  /** Of a tool that the provider runs. */
  | { readonly kind: 'tool result'; readonly text: string }
  | { readonly kind: 'other'; readonly text: string }

export interface Message {
  readonly role: string
  readonly parts: readonly Part[]
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const arrayOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const listOf = (value: unknown): readonly Fields[] => arrayOf(value).filter(isObject)

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

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  const json = JSON.stringify(value)
  return isDeep(json) ? json : JSON.stringify(value, null, 2)
}

/**
 * The messages that a call got: of chat completions, Anthropic's messages, the Responses API, completions, or embeddings. `op` is the
 * name of its op.
 */
export const messagesIn = (inputs: unknown, op = ''): readonly Message[] => {
  if (!isObject(inputs)) return []
  const messages = conversationIn(inputs['messages'] ?? inputs['input'])
  if (messages.length === 0) return 'model' in inputs ? textsIn(inputs, op) : []
  return [...systemIn(inputs), ...messages]
}

const systemIn = (inputs: Fields): readonly Message[] => {
  const parts = partsOf(inputs['system'] ?? inputs['instructions'])
  return parts.length === 0 ? [] : [{ role: 'system', parts }]
}

/** A list without any message is a value like others. */
const conversationIn = (items: unknown): readonly Message[] =>
  listOf(items).some(isMessage) ? conversationOf(arrayOf(items)) : []

const isMessage = ({ role, type }: Fields): boolean =>
  role !== undefined || (typeof type === 'string' && (type === 'reasoning' || /_call(_output)?$/.test(type)))

/** Texts, or tokens, that are no list of messages. */
const textsIn = (inputs: Fields, op: string): readonly Message[] => {
  const { input, prompt, suffix } = inputs
  const isAnswered = typeof input === 'string' && !/embed|moderat/.test(op)
  const texts = isAnswered ? [{ role: 'user', parts: partsOf(input) }] : textsOf(input, 'input')
  const messages = [...texts, ...textsOf(prompt, 'prompt'), ...textsOf(suffix, 'suffix')]
  return messages.length === 0 ? [] : [...systemIn(inputs), ...messages]
}

const textsOf = (value: unknown, role: string): readonly Message[] => {
  const values =
    Array.isArray(value) && typeof value[0] !== 'number' ? (value as readonly unknown[]) : [value]
  if (!values.every((one) => typeof one === 'string' || isTokens(one))) return []
  return values.map((one) => ({
    role,
    parts: isTokens(one) ? [{ kind: 'other', text: tokensText(one) }] : partsOf(one),
  }))
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((token) => typeof token === 'number')

const tokensText = (tokens: readonly number[]): string =>
  `${tokens.length === 1 ? '1 token' : `${tokens.length} tokens`}: ${tokens.join(' ')}`

/** The messages that a call returned. */
export const messagesOut = (output: unknown): readonly Message[] => {
  if (!isObject(output)) return []
  const { messages, choices, output: items, data, role } = output
  if (Array.isArray(messages)) return conversationIn(messages)
  const answers = listOf(choices).flatMap(({ message, text }) =>
    isObject(message)
      ? messagesOf(message)
      : typeof text === 'string'
        ? [{ role: 'assistant', parts: partsOf(text) }]
        : [],
  )
  if (answers.length > 0) return answers
  if (Array.isArray(items)) return conversationIn(items)
  if (Array.isArray(data)) return vectorsIn(data)
  return typeof role === 'string' && 'content' in output ? messagesOf(output) : []
}

/** How many vectors a call returned, and how long they are. */
const vectorsIn = (data: readonly unknown[]): readonly Message[] => {
  const lengths = data.map((one) =>
    isObject(one) ? (one['dimensions'] ?? lengthOf(one['embedding'])) : undefined,
  )
  if (lengths.length === 0 || !lengths.every((length) => typeof length === 'number')) return []
  const vectors = lengths.length === 1 ? '1 vector' : `${lengths.length} vectors`
  const text = `${vectors} of ${[...new Set(lengths)].slice(0, 10).join(', ')} dimensions`
  return [{ role: 'embeddings', parts: [{ kind: 'text', text }] }]
}

/** In base64, a number has four bytes. */
const lengthOf = (embedding: unknown): number | undefined =>
  Array.isArray(embedding)
    ? embedding.length
    : typeof embedding === 'string'
      ? Math.floor((embedding.replace(/=+$/, '').length * 3) / 16)
      : undefined

/** The reasoning and the tool calls of the assistant that are items of their own are part of the message next to them. */
const conversationOf = (items: readonly unknown[]): readonly Message[] => {
  const messages: { readonly role: string; readonly parts: Part[] }[] = []
  let wasMessage = true
  for (const item of items) {
    const isWhole = !isObject(item) || 'role' in item
    for (const { role, parts } of isObject(item) ? messagesOf(item) : [otherOf(item)]) {
      const last = messages.at(-1)
      if (role === 'assistant' && last?.role === role && !(isWhole && wasMessage))
        for (const part of parts) last.parts.push(part)
      else messages.push({ role, parts: [...parts] })
    }
    wasMessage = isWhole
  }
  return messages
}

const otherOf = (value: unknown, role = 'other'): Message => ({
  role,
  parts: [{ kind: 'other', text: textOf(value) }],
})

const messagesOf = (message: Fields): readonly Message[] => {
  const { role, type, content, tool_calls, refusal } = message
  if (typeof role !== 'string' && typeof type === 'string') return [messageOfItem(type, message)]
  const results = listOf(content).filter(isToolResult)
  const rest =
    results.length === 0 ? content : arrayOf(content).filter((part) => !isObject(part) || !isToolResult(part))
  const parts = [
    ...reasoningOf(message['reasoning_content'] ?? message['reasoning']),
    ...partsOf(rest),
    ...(typeof refusal === 'string' ? [{ kind: 'refusal', text: refusal } as const] : []),
    ...listOf(tool_calls).flatMap((call) =>
      callOf([call['function'], call['custom']].find(isObject) ?? call),
    ),
  ]
  if (role === undefined && parts.length === 0) return [otherOf(message)]
  const own = { role: typeof role === 'string' ? role : 'assistant', parts }
  return [
    ...results.map((result) => ({
      role: result['is_error'] === true ? 'tool error' : 'tool',
      parts: partsOf(result['content']),
    })),
    ...(results.length > 0 && parts.length === 0 ? [] : [own]),
  ]
}

const isToolResult = ({ type }: Fields): boolean => type === 'tool_result'

/** An item of the Responses API that is no message. */
const messageOfItem = (type: string, item: Fields): Message => {
  if (type === 'reasoning') {
    const texts = [item['content'], item['summary']].map((parts) =>
      listOf(parts).map(({ text }) => textOf(text)),
    )
    const [text = ''] = texts.map((some) => some.join('\n\n')).filter(Boolean)
    return { role: 'assistant', parts: reasoningOf(text, item['encrypted_content']) }
  }
  if (type.endsWith('_output'))
    return { role: 'tool', parts: partsOf(isObject(item['output']) ? [item['output']] : item['output']) }
  if (!type.endsWith('_call')) return otherOf(item, type.replaceAll('_', ' '))
  const { result, output, outputs, results, error } = item
  const found = [result, output, outputs, results, error].find((one) => one !== undefined && one !== null)
  const isImage = type === 'image_generation_call' && typeof result === 'string'
  const answer: Part = isImage
    ? { kind: 'image', url: `data:image/png;base64,${result}` }
    : { kind: 'tool result', text: textOf(found) }
  const calls = callOf(item, type.slice(0, -'_call'.length))
  return { role: 'assistant', parts: found === undefined ? calls : [...calls, answer] }
}

/** Without a text, the provider has encrypted the reasoning. */
const reasoningOf = (text: unknown, encrypted?: unknown): readonly Part[] => {
  if (typeof text === 'string' && text !== '') return [{ kind: 'reasoning', text }]
  return typeof encrypted === 'string' ? [{ kind: 'reasoning', text: 'Encrypted by the provider.' }] : []
}

const callOf = (call: Fields, type?: string): readonly Part[] => {
  const { name = type, arguments: given, input, action, operation, queries, code } = call
  const found = [given, input, action, operation, queries, code].find((one) => one !== undefined)
  return [
    {
      kind: 'tool call',
      name: textOf(name),
      input: typeof found === 'string' ? prettier(found) : textOf(found),
    },
  ]
}

const partsOf = (content: unknown): readonly Part[] => {
  if (content === undefined || content === null || content === '') return []
  if (!Array.isArray(content)) return [{ kind: 'text', text: textOf(content) }]
  return content.flatMap((part: unknown): readonly Part[] =>
    isObject(part) ? partOf(part) : [{ kind: 'text', text: textOf(part) }],
  )
}

const partOf = (part: Fields): readonly Part[] => {
  const { text, thinking, signature, data, refusal, image_url } = part
  const type = typeof part['type'] === 'string' ? part['type'] : ''
  if (typeof text === 'string') return [{ kind: 'text', text }]
  if (type === 'thinking') return reasoningOf(thinking, signature)
  if (type === 'redacted_thinking') return reasoningOf(undefined, data)
  if (typeof refusal === 'string') return [{ kind: 'refusal', text: refusal }]
  if (type.endsWith('tool_use')) return callOf(part)
  if (type.endsWith('tool_result')) return [{ kind: 'tool result', text: textOf(part['content']) }]
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

export interface Tool {
  readonly name: string
  readonly description: string
}

/** The tools that a call offered to the model. */
export const toolsIn = (inputs: unknown): readonly Tool[] =>
  listOf(isObject(inputs) ? inputs['tools'] : undefined).map((tool) => {
    const of = isObject(tool['function'])
      ? tool['function']
      : isObject(tool['custom'])
        ? tool['custom']
        : tool
    return { name: textOf(of['name'] ?? of['type']), description: textOf(of['description']) }
  })
