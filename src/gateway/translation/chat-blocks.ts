import { countOf } from '../../domain/calls/usage/figure.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { jsonText } from '../../kernel/json/text.js'
import { writtenIn } from '../answer/fold.js'
import { GrowingText, isGrowingObject, settled, type GrowingObject } from '../answer/growing.js'
import { mergeInto } from '../answer/merge.js'
import { indexIn, isWholeJson, placeOf } from '../answer/places.js'
import { UsageReports } from '../answer/usage.js'
import type { Usage } from '../answer/usage-report.js'
import { isReason } from '../answer/whole-answer.js'

type TextKind = 'reasoning' | 'text' | 'refusal'

/** A part of an answer: consecutive text of one kind, or a tool call. */
export interface Block {
  readonly kind: TextKind | 'call'
  /** From 0, in the order in which the blocks are opened. */
  readonly index: number
  /** Of a tool call. */
  readonly id: string
  readonly name: string
}

/** A block opens with no text, gets pieces of it, and closes with the whole text. Only one block is open at a time. */
export interface Step {
  readonly type: 'open' | 'add' | 'close'
  readonly block: Block
  /** The piece, or the whole text; of a tool call its arguments. */
  readonly text: string
}

export interface ReportedUsage extends Usage {
  readonly reasoning_tokens: number
}

class OpenableBlock implements Block {
  id = ''
  name = ''
  isOpen = false
  next: OpenableBlock | undefined
  private readonly pieces = new GrowingText('content', '')

  constructor(
    readonly kind: Block['kind'],
    readonly index: number,
    private readonly call: GrowingObject = {},
  ) {}

  append(piece: string, grant: (characters: number) => number): void {
    this.pieces.append(piece, grant)
  }

  get text(): string {
    if (this.kind !== 'call') return this.pieces.text()
    const text = settled(this.called['arguments'] ?? '')
    return typeof text === 'string' ? text : ''
  }

  /** Names may come in pieces, which end with the first piece of the arguments. */
  get isNamed(): boolean {
    const { name, arguments: given } = this.called
    return this.kind !== 'call' || (typeof name === 'string' && given !== undefined && given !== '')
  }

  /** Whether a later block ends this one. */
  get isWhole(): boolean {
    return this.kind !== 'call' || isWholeJson(this.called)
  }

  open(newId: string): void {
    const { id } = this.call
    const { name } = this.called
    this.id = typeof id === 'string' && id !== '' ? id : newId
    this.name = typeof name === 'string' ? name : ''
    this.isOpen = true
  }

  private get called(): GrowingObject {
    const called = this.call['function']
    return isGrowingObject(called) ? called : {}
  }
}

/**
 * Reads the first choice of a chat completion, whole or in chunks, as blocks one after another. What belongs to a later block
 * than the open one is held back until that has ended: a tool call once its arguments are whole and another block began.
 */
export class ChatBlocks {
  finishReason: string | undefined
  /** The stop sequence at which the upstream stopped, if it says so. */
  stopText: string | undefined
  hasRefusal = false
  /** Characters in memory. */
  held = 0
  private steps: Step[] = []
  private count = 0
  private current: OpenableBlock | undefined
  private last: OpenableBlock | undefined
  private readonly calls: GrowingObject[] = []
  private readonly blocksOfCalls: OpenableBlock[] = []
  private readonly seen = new Set<Block['kind']>()
  private readonly reports = new UsageReports({ promptTokens: 0, mostTokens: Infinity })
  private hasUsage = false
  private reasoningTokens = 0

  /** `id` is the call's, for tool calls that have no id. */
  constructor(private readonly id: string) {}

  take(chunk: JsonObject): readonly Step[] {
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJsonObject) : []
    this.hasUsage = this.reports.take(chunk, choices) || this.hasUsage
    this.reasoningTokens = Math.max(this.reasoningTokens, reasoningTokensIn(chunk['usage']))
    for (const choice of choices) if ((indexIn(choice) ?? 0) === 0) this.takeChoice(choice)
    this.advance(false)
    return this.takenSteps()
  }

  /** Closes what is open. */
  end(): readonly Step[] {
    this.advance(true)
    return this.takenSteps()
  }

  get hasCalls(): boolean {
    return this.calls.length > 0
  }

  get usage(): ReportedUsage | undefined {
    const { usage } = this.reports.metered(0)
    return this.hasUsage && usage !== null ? { ...usage, reasoning_tokens: this.reasoningTokens } : undefined
  }

  /** Why the answer is not all that the model had to say. */
  get incomplete(): 'length' | 'filter' | undefined {
    if (/^(length|max_tokens|max_output_tokens|model_length)$/i.test(this.finishReason ?? '')) return 'length'
    return /^(content_filter|refusal|safety)/i.test(this.finishReason ?? '') ? 'filter' : undefined
  }

  private takenSteps(): readonly Step[] {
    const { steps } = this
    this.steps = []
    return steps
  }

  private takeChoice(choice: JsonObject): void {
    const { finish_reason, stop_reason, matched_stop } = choice
    if (isReason(finish_reason)) this.finishReason = finish_reason
    const stopText = stop_reason ?? matched_stop
    if (typeof stopText === 'string') this.stopText = stopText
    const { delta, message } = writtenIn(choice)
    const written = delta ?? message ?? {}
    // A whole message after deltas repeats them.
    const seen = delta === undefined ? new Set(this.seen) : NONE
    for (const [kind, text] of textsIn(written)) if (!seen.has(kind)) this.addText(kind, text)
    const calls = written['tool_calls']
    if (Array.isArray(calls) && !seen.has('call')) this.addCalls(calls.filter(isJsonObject))
  }

  private addText(kind: TextKind, piece: string): void {
    this.hasRefusal ||= kind === 'refusal'
    const block = this.last?.kind === kind ? this.last : this.addBlock(kind)
    block.append(piece, this.grant)
    if (block.isOpen) this.steps.push({ type: 'add', block, text: piece })
  }

  private addCalls(pieces: readonly JsonObject[]): void {
    for (const [at, given] of pieces.entries()) {
      const { piece, text } = withTextArguments(given)
      const place = placeOf(this.calls, piece, { key: 'tool_calls', isFirst: at === 0 })
      const call = place === undefined ? {} : this.calls[place]!
      mergeInto(call, piece, { grant: this.grant })
      const block = place === undefined ? this.addBlock('call', call) : this.blocksOfCalls[place]!
      if (place === undefined) {
        this.calls.push(call)
        this.blocksOfCalls.push(block)
      } else if (block === this.current && block.isOpen && text !== '')
        this.steps.push({ type: 'add', block, text })
    }
  }

  private addBlock(kind: Block['kind'], call?: GrowingObject): OpenableBlock {
    const block = new OpenableBlock(kind, this.count, call)
    this.count += 1
    this.seen.add(kind)
    if (this.last !== undefined) this.last.next = block
    this.last = block
    this.current ??= block
    return block
  }

  private readonly grant = (characters: number): number => {
    this.held += characters
    return characters
  }

  private advance(isEnd: boolean): void {
    for (let block = this.current; block !== undefined; block = block.next) {
      this.current = block
      if (!isEnd && !block.isNamed) return
      if (!block.isOpen) this.open(block)
      if (!isEnd && (block.next === undefined || !block.isWhole)) return
      this.steps.push({ type: 'close', block, text: block.text })
    }
    this.current = undefined
  }

  private open(block: OpenableBlock): void {
    block.open(`call_${this.id}_${block.index}`)
    this.steps.push({ type: 'open', block, text: '' })
    const { text } = block
    if (text !== '') this.steps.push({ type: 'add', block, text })
  }
}

const NONE: ReadonlySet<Block['kind']> = new Set()

const reasoningTokensIn = (usage: Json | undefined): number => {
  const details = isJsonObject(usage) ? usage['completion_tokens_details'] : undefined
  return isJsonObject(details) ? (countOf(details['reasoning_tokens'] ?? null) ?? 0) : 0
}

const textsIn = (written: JsonObject): readonly (readonly [TextKind, string])[] => {
  const texts: (readonly [TextKind, string])[] = []
  const add = (value: Json | undefined, kind: TextKind): void => {
    if (typeof value === 'string' && value !== '') texts.push([kind, value])
    else if (Array.isArray(value)) for (const part of value as readonly Json[]) add(part, kind)
    else if (isJsonObject(value)) {
      add(value['thinking'], 'reasoning')
      add(value['refusal'], 'refusal')
      add(value['text'], kind)
    }
  }
  // Some upstreams send the same reasoning under two names.
  add(
    REASONING.map((name) => written[name]).find(
      (value) => value !== undefined && value !== null && value !== '',
    ),
    'reasoning',
  )
  add(written['content'], 'text')
  add(written['refusal'], 'refusal')
  return texts
}

const REASONING = ['reasoning_content', 'reasoning', 'thinking']

/** Some upstreams send arguments as an object. */
const withTextArguments = (piece: JsonObject): { readonly piece: JsonObject; readonly text: string } => {
  const called = piece['function']
  if (!isJsonObject(called)) return { piece, text: '' }
  const { arguments: given = null } = called
  if (typeof given === 'string' || given === null) return { piece, text: given ?? '' }
  const text = jsonText(given)
  return { piece: { ...piece, function: { ...called, arguments: text } }, text }
}
