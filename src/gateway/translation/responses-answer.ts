import { withDigitsOf } from '../../kernel/json/digits.js'
import type { Json, JsonObject } from '../../kernel/json/json.js'
import { pricedParts } from '../answer/usage.js'
import { ChatBlocks, type Block, type ReportedUsage, type Step } from './chat-blocks.js'
import { clientTools, type ClientTool } from './responses-tools.js'
import type { AnswerOptions, AnswerTranslator, TranslatedEvent } from './translation.js'

export const responsesAnswer = (options: AnswerOptions): AnswerTranslator => {
  const stream = new ResponseStream(options)
  return {
    chunk: (chunk) => stream.take(chunk),
    end: () => stream.end(),
    whole: (completion) => {
      const whole = new ResponseStream(options)
      whole.take(completion)
      whole.end()
      return whole.response()
    },
    held: () => stream.held,
  }
}

/** The events of one answer, and the response that they make. */
class ResponseStream {
  private readonly blocks: ChatBlocks
  private readonly tools: ReadonlyMap<string, ClientTool>
  private readonly output: JsonObject[] = []
  private events: TranslatedEvent[] = []
  private sequenceNumber = 0
  private serviceTier: Json = null
  private status: 'in_progress' | 'completed' | 'incomplete' = 'in_progress'

  constructor(private readonly options: AnswerOptions) {
    this.blocks = new ChatBlocks(options.id)
    this.tools = clientTools(options.given)
  }

  get held(): number {
    return this.blocks.held
  }

  take(chunk: JsonObject): readonly TranslatedEvent[] {
    this.serviceTier = chunk['service_tier'] ?? this.serviceTier
    this.start()
    for (const step of this.blocks.take(chunk)) this.takeStep(step, false)
    return this.taken()
  }

  end(): readonly TranslatedEvent[] {
    this.start()
    const steps = this.blocks.end()
    for (const [at, step] of steps.entries()) this.takeStep(step, at === steps.length - 1)
    this.status = this.blocks.incomplete === undefined ? 'completed' : 'incomplete'
    this.emit(`response.${this.status}`, { response: this.response() })
    return this.taken()
  }

  response(): JsonObject {
    const { given, id, createdAt } = this.options
    const { incomplete, usage } = this.blocks
    const isIncomplete = this.status === 'incomplete'
    return withDigitsOf(given, {
      ...ECHOED,
      ...Object.fromEntries(
        Object.keys(ECHOED).flatMap((key) =>
          given[key] === undefined || given[key] === null ? [] : [[key, given[key]]],
        ),
      ),
      background: false,
      completed_at: null,
      max_tool_calls: null,
      previous_response_id: null,
      top_logprobs: 0,
      id: `resp_${id}`,
      object: 'response',
      created_at: createdAt,
      status: this.status,
      error: null,
      incomplete_details: isIncomplete
        ? { reason: incomplete === 'length' ? 'max_output_tokens' : 'content_filter' }
        : null,
      output: [...this.output],
      service_tier: this.serviceTier,
      store: false,
      usage: this.status === 'in_progress' || usage === undefined ? null : usageOf(usage),
    })
  }

  private start(): void {
    if (this.sequenceNumber > 0) return
    this.emit('response.created', { response: this.response() })
    this.emit('response.in_progress', { response: this.response() })
  }

  private emit(type: string, members: JsonObject): void {
    this.events.push({ event: type, value: { type, ...members, sequence_number: this.sequenceNumber } })
    this.sequenceNumber += 1
  }

  private taken(): readonly TranslatedEvent[] {
    const { events } = this
    this.events = []
    return events
  }

  private takeStep({ type, block, text }: Step, isLast: boolean): void {
    const { index: output_index } = block
    if (type === 'open')
      this.emit('response.output_item.added', { output_index, item: this.itemOf(block, null, 'in_progress') })
    if (block.kind === 'call') this.emitCall(type, block, text)
    else this.emitText(type, block.kind, output_index, text)
    if (type !== 'close') return
    const isCut = isLast && this.blocks.incomplete !== undefined
    const item = this.itemOf(block, text, isCut ? 'incomplete' : 'completed')
    this.output.push(item)
    this.emit('response.output_item.done', { output_index, item })
  }

  private emitText(type: Step['type'], kind: TextKind, output_index: number, text: string): void {
    const { name, part, index } = TEXTS[kind]
    const at = { item_id: this.itemId(kind, output_index), output_index, [index]: 0 }
    const more = kind === 'text' ? { logprobs: [] } : {}
    if (type === 'open') this.emit(`response.${part}.added`, { ...at, part: partOf(kind, '') })
    else if (type === 'add') this.emit(`response.${name}.delta`, { ...at, delta: text, ...more })
    else {
      this.emit(`response.${name}.done`, { ...at, [kind === 'refusal' ? 'refusal' : 'text']: text, ...more })
      this.emit(`response.${part}.done`, { ...at, part: partOf(kind, text) })
    }
  }

  /** The input of a custom tool is within the arguments, so that it is sent when they are whole. */
  private emitCall(type: Step['type'], { name: chatName, index: output_index }: Block, text: string): void {
    const { name, isCustom } = this.toolOf(chatName)
    const at = { item_id: this.itemId('call', output_index), output_index }
    if (!isCustom && type === 'add')
      this.emit('response.function_call_arguments.delta', { ...at, delta: text })
    if (type !== 'close') return
    const input = inputIn(text)
    if (!isCustom) this.emit('response.function_call_arguments.done', { ...at, arguments: text, name })
    else {
      this.emit('response.custom_tool_call_input.delta', { ...at, delta: input })
      this.emit('response.custom_tool_call_input.done', { ...at, input })
    }
  }

  /** `text` is null for an item without content yet. */
  private itemOf({ kind, index, id: call_id, name }: Block, text: string | null, status: string): JsonObject {
    const id = this.itemId(kind, index)
    const parts = text === null || kind === 'call' ? [] : [partOf(kind, text)]
    if (kind === 'reasoning') return { id, type: 'reasoning', summary: parts, status }
    if (kind !== 'call') return { id, type: 'message', status, role: 'assistant', content: parts }
    const { isCustom, ...called } = this.toolOf(name)
    return isCustom
      ? { id, type: 'custom_tool_call', status, call_id, ...called, input: inputIn(text ?? '') }
      : { id, type: 'function_call', status, arguments: text ?? '', call_id, ...called }
  }

  /** Models also call functions that do not exist. */
  private toolOf(name: string): ClientTool {
    return this.tools.get(name) ?? { name, isCustom: false }
  }

  private itemId(kind: Block['kind'], index: number): string {
    return `${kind === 'call' ? 'fc' : TEXTS[kind].prefix}_${this.options.id}_${index}`
  }
}

type TextKind = Exclude<Block['kind'], 'call'>

const TEXTS = {
  reasoning: {
    prefix: 'rs',
    name: 'reasoning_summary_text',
    part: 'reasoning_summary_part',
    index: 'summary_index',
  },
  text: { prefix: 'msg', name: 'output_text', part: 'content_part', index: 'content_index' },
  refusal: { prefix: 'msg', name: 'refusal', part: 'content_part', index: 'content_index' },
} as const

const partOf = (kind: TextKind, text: string): JsonObject => {
  if (kind === 'reasoning') return { type: 'summary_text', text }
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', annotations: [], logprobs: [], text }
}

/** The text that the function in place of a custom tool got, or its arguments if they are not as its schema says. */
const inputIn = (text: string): string => {
  try {
    const { input } = JSON.parse(text) as { readonly input?: unknown }
    return typeof input === 'string' ? input : text
  } catch {
    return text
  }
}

const usageOf = (usage: ReportedUsage): JsonObject => ({
  ...pricedParts(usage),
  input_tokens: usage.prompt_tokens,
  input_tokens_details: {
    cached_tokens: usage.cache_read_input_tokens,
    cache_write_tokens: usage.cache_creation_input_tokens,
  },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.total_tokens,
})

/** Members of the request that the answer repeats, with their defaults. */
const ECHOED: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  model: '',
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
  user: null,
}
