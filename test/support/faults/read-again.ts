import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { RunningService } from '../running-service.js'

/** Repeats the request until it can be answered. */
export const readAgain = async (
  service: RunningService,
  method: string,
  path: string,
  body?: unknown,
): Promise<JsonObject> => {
  for (let tries = 0; ; tries += 1) {
    const answer = await service.send(method, path, body).catch(() => undefined)
    if (answer?.status === 200) return JSON.parse(answer.text) as JsonObject
    assert.ok(answer?.status !== 500 && tries < 240, `${path}: ${answer?.text.slice(0, 300)}`)
    await sleep(250)
  }
}
