import { utf8Bytes } from '../../kernel/codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

/** Bytes that the model generated in a message or delta: its texts, and names and arguments of tool calls. */
export const writtenBytes = (message: JsonObject): number =>
  Object.entries(message).reduce((sum, [key, value]) => (UNWRITTEN.has(key) ? sum : sum + bytesOf(value)), 0)

const UNWRITTEN = new Set(['role', 'id', 'type', 'index'])

const bytesOf = (value: Json): number => {
  if (typeof value === 'string') return utf8Bytes(value)
  if (Array.isArray(value)) return value.reduce<number>((sum, item: Json) => sum + bytesOf(item), 0)
  return isJsonObject(value) ? writtenBytes(value) : 0
}
