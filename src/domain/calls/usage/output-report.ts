import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { opOf } from '../op.js'
import { modelUsageOf, reportedUsageOf, type ReportedUsage } from './reported.js'

/** Parts of a start that decide how the end is read. */
interface KnownStart {
  readonly op_name: string
  readonly attributes: Json
  readonly inputs: Json
}

interface KnownEnd {
  /** Null if it is not at hand. */
  readonly summary: JsonObject | null
  readonly output: Json
}

/**
 * The usage of a call whose start is known. Python `weave` before 0.53 passes on Anthropic's input without the cache, and
 * no usage of some integrations, whose output has it.
 */
export const usageByStart = (start: KnownStart, end: KnownEnd, usage: ReportedUsage): ReportedUsage => {
  if (usage.models.length > 0)
    return end.summary !== null && excludesCache(start.attributes)
      ? reportedUsageOf(end.summary, { output: end.output, excludesCache: true })
      : usage
  const report = reportOf(opOf(start.op_name), end.output)
  const model = report?.model ?? textIn(start.inputs, 'model')
  if (report === undefined || model === undefined) return usage
  return { ...usage, models: [{ ...modelUsageOf(model, report.usage), requests: 1 }] }
}

const excludesCache = (attributes: Json): boolean => {
  const weave = isJsonObject(attributes) ? attributes['weave'] : undefined
  if (!isJsonObject(weave) || weave['source'] !== 'python-sdk') return false
  const version = /^0\.(\d+)\./.exec(textIn(weave, 'client_version') ?? '')
  return version !== null && Number(version[1]) < 53
}

/**
 * Usage that only the output of an integration has. Of the spans of OpenAI's agents, a task repeats the figures of its
 * turns, and a turn those of the generations directly below it, which it includes like a sum of an SDK.
 */
const reportOf = (
  op: string,
  output: Json,
): { readonly model: string | undefined; readonly usage: JsonObject } | undefined => {
  if (!isJsonObject(output)) return undefined
  const { usage, meta, metrics, metadata } = output
  if (/^cohere\./.test(op)) {
    const report = [usage, meta].find(isJsonObject)
    return report && { model: textIn(output, 'model'), usage: report }
  }
  const model = textIn(metadata, 'model')
  if (!/^openai_agent_(?:generation|turn)$/.test(op) || !isJsonObject(metrics) || model === undefined)
    return undefined
  const { tokens, ...figures } = metrics
  return { model, usage: { ...figures, total_tokens: tokens ?? null } }
}

const textIn = (value: Json | undefined, name: string): string | undefined => {
  const text = isJsonObject(value) ? value[name] : undefined
  return typeof text === 'string' && text !== '' ? text : undefined
}
