import assert from 'node:assert/strict'
import type { RunningService } from '../running-service.js'

/** The ids of a project's calls, sorted, as soon as reads are possible. */
export const callIdsOnceRead = async (service: RunningService, project_id: string): Promise<string[]> => {
  for (;;) {
    const { status, text } = await service.in(project_id).calls.stream()
    assert.ok(status === 200 || status === 503, text)
    if (status !== 200) continue
    const lines = text.split('\n').filter((line) => line !== '')
    return lines.map((line) => (JSON.parse(line) as { id: string }).id).sort()
  }
}
