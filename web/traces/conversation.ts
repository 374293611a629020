import {
  arrayOf,
  callOf,
  isObject,
  listOf,
  partsOf,
  reasoningOf,
  textOf,
  type Fields,
  type Part,
} from './message-parts.js'

export interface Message {
  readonly role: string
  /** Of who wrote the message, or of the tool. */
  readonly name?: string
  /** The tool call whose result this is. */
  readonly callId?: string
  readonly parts: readonly Part[]
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
  const messages: (Message & { readonly parts: Part[] })[] = []
  let wasMessage = true
  for (const item of items) {
    const isWhole = !isObject(item) || 'role' in item
    for (const message of isObject(item) ? messagesOf(item) : [otherOf(item)]) {
      const last = messages.at(-1)
      if (message.role === 'assistant' && last?.role === 'assistant' && !(isWhole && wasMessage))
        for (const part of message.parts) last.parts.push(part)
      else messages.push({ ...message, parts: [...message.parts] })
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
      callOf([call['function'], call['custom']].find(isObject) ?? call, call['id']),
    ),
  ]
  if (role === undefined && parts.length === 0) return [otherOf(message)]
  const own = {
    role: typeof role === 'string' ? role : 'assistant',
    ...named(message['tool_call_id'], message['name']),
    parts,
  }
  return [
    ...results.map((result) => ({
      role: result['is_error'] === true ? 'tool error' : 'tool',
      ...named(result['tool_use_id']),
      parts: partsOf(result['content']),
    })),
    ...(results.length > 0 && parts.length === 0 ? [] : [own]),
  ]
}

const named = (callId: unknown, name?: unknown): Pick<Message, 'callId' | 'name'> => ({
  ...(typeof name === 'string' && name !== '' ? { name } : {}),
  ...(typeof callId === 'string' && callId !== '' ? { callId } : {}),
})

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
    return {
      role: 'tool',
      ...named(item['call_id'], item['name']),
      parts: partsOf(isObject(item['output']) ? [item['output']] : item['output']),
    }
  if (!type.endsWith('_call')) return otherOf(item, type.replaceAll('_', ' '))
  const { result, output, outputs, results, error } = item
  const id = textOf(item['call_id'] ?? item['id'])
  const found = [result, output, outputs, results, error].find((one) => one !== undefined && one !== null)
  const isImage = type === 'image_generation_call' && typeof result === 'string'
  const answer: Part = isImage
    ? { kind: 'image', url: `data:image/png;base64,${result}` }
    : { kind: 'tool result', id, text: textOf(found) }
  const calls = callOf(item, id, type.slice(0, -'_call'.length))
  return { role: 'assistant', parts: found === undefined ? calls : [...calls, answer] }
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** What else the model was given of it, as JSON; '' for nothing. */
  readonly rest: string
}

/** The tools that a call offered to the model. */
export const toolsIn = (inputs: unknown): readonly Tool[] =>
  listOf(isObject(inputs) ? inputs['tools'] : undefined).map((tool) => {
    const of = isObject(tool['function'])
      ? tool['function']
      : isObject(tool['custom'])
        ? tool['custom']
        : tool
    const { name, type, description, ...rest } = of
    return {
      name: textOf(name ?? type),
      description: textOf(description),
      rest: Object.keys(rest).length === 0 ? '' : textOf(rest),
    }
  })

/** The members of inputs that `messagesIn` and `toolsIn` show; none where there are no messages. */
export const shownInputs = (inputs: unknown, op = ''): ReadonlySet<string> => {
  if (!isObject(inputs) || messagesIn(inputs, op).length === 0) return new Set()
  const { messages, input, system, tools } = inputs
  const isPresent = (value: unknown) => value !== undefined && value !== null
  const isConversation = conversationIn(messages ?? input).length > 0
  const ofTexts = ['input', 'prompt', 'suffix'].filter((name) => textsOf(inputs[name], name).length > 0)
  return new Set([
    ...(isConversation ? [isPresent(messages) ? 'messages' : 'input'] : ofTexts),
    isPresent(system) ? 'system' : 'instructions',
    ...(arrayOf(tools).every(isObject) ? ['tools'] : []),
  ])
}
