/** A part of a message, as it is shown. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'tool call'; readonly name: string; readonly input: string }
  | { readonly kind: 'other'; readonly text: string }

export interface Message {
  readonly role: string
  readonly parts: readonly Part[]
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : value === undefined || value === null
      ? ''
      : JSON.stringify(value, null, 2)

/** The messages that a call got: of chat completions, Anthropic's messages, or the Responses API. */
export const messagesIn = (inputs: unknown): readonly Message[] => {
  if (!isObject(inputs)) return []
  const messages = listOf(inputs['messages'] ?? inputs['input'])
    .filter(isMessage)
    .map(messageOf)
  const system = inputs['system'] ?? inputs['instructions']
  return messages.length === 0 || system === undefined || system === null
    ? messages
    : [{ role: 'system', parts: partsOf(system) }, ...messages]
}

const isMessage = (message: Fields): boolean =>
  'role' in message || message['type'] === 'function_call_output'

/** The messages that a call returned. */
export const messagesOut = (output: unknown): readonly Message[] => {
  if (!isObject(output)) return []
  if (Array.isArray(output['messages'])) return listOf(output['messages']).filter(isMessage).map(messageOf)
  const choices = listOf(output['choices']).flatMap(({ message }) =>
    isObject(message) ? [messageOf(message)] : [],
  )
  if (choices.length > 0) return choices
  const items = listOf(output['output']).filter(({ type }) => type === 'message' || type === 'function_call')
  if (items.length > 0) return items.map(messageOf)
  return typeof output['role'] === 'string' && 'content' in output ? [messageOf(output)] : []
}

const messageOf = (message: Fields): Message => {
  const { role, content, tool_calls, type, reasoning_content: reasoning } = message
  const called = type === 'function_call' ? [message] : listOf(tool_calls)
  return {
    role: typeof role === 'string' ? role : type === 'function_call_output' ? 'tool' : 'assistant',
    parts: [
      ...(typeof reasoning === 'string' ? [{ kind: 'reasoning', text: reasoning } as const] : []),
      ...partsOf(content ?? (type === 'function_call_output' ? message['output'] : undefined)),
      ...called.map((call): Part => {
        const of = isObject(call['function']) ? call['function'] : call
        return { kind: 'tool call', name: textOf(of['name']), input: prettier(textOf(of['arguments'])) }
      }),
    ],
  }
}

const partsOf = (content: unknown): readonly Part[] => {
  if (content === undefined || content === null || content === '') return []
  if (!Array.isArray(content)) return [{ kind: 'text', text: textOf(content) }]
  return content.map((part: unknown): Part =>
    isObject(part) ? partOf(part) : { kind: 'text', text: textOf(part) },
  )
}

const partOf = (part: Fields): Part => {
  const { type, text, image_url, source, name, input, content } = part
  if (typeof text === 'string') return { kind: 'text', text }
  const url = isObject(image_url) ? image_url['url'] : image_url
  if (typeof url === 'string') return { kind: 'image', url }
  if (isObject(source) && typeof source['data'] === 'string')
    return { kind: 'image', url: `data:${textOf(source['media_type'])};base64,${source['data']}` }
  if (type === 'tool_use') return { kind: 'tool call', name: textOf(name), input: textOf(input) }
  if (type === 'tool_result') return { kind: 'text', text: textOf(content) }
  return { kind: 'other', text: textOf(part) }
}

const prettier = (text: string): string => {
  try {
    // Numbers that a double cannot hold stay as they were written.
    return /\d{16}/.test(text) ? text : JSON.stringify(JSON.parse(text), null, 2)
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
    const of = isObject(tool['function']) ? tool['function'] : tool
    return { name: textOf(of['name'] ?? of['type']), description: textOf(of['description']) }
  })
