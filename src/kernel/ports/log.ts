import type { JsonObject } from '../json/json.js'

/** Structured logging: one event, one line. Fields never hold payloads, secrets or keys. */
export interface Log {
  info(event: string, fields?: JsonObject): void
  warn(event: string, fields?: JsonObject): void
  error(event: string, fields?: JsonObject): void
}
