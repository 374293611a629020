import type { JsonObject } from '../../kernel/json/json.js'
import type { Log } from '../../kernel/ports/log.js'

/** Writes one line of JSON per event. */
export const jsonLog = (out: NodeJS.WritableStream): Log => {
  const write = (level: string) => (event: string, fields?: JsonObject) => {
    out.write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`)
  }
  return { info: write('info'), warn: write('warn'), error: write('error') }
}
