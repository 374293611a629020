import { randomUUID } from 'node:crypto'

export const arbitraryCallId = (): string => `call-${randomUUID()}`

export const aStart = (project_id: string, more: object = {}) => ({
  project_id,
  id: arbitraryCallId(),
  op_name: 'answer',
  started_at: '2026-01-01T00:00:00Z',
  attributes: {},
  inputs: {},
  ...more,
})

export const anEnd = (project_id: string, id: string, more: object = {}) => ({
  project_id,
  id,
  ended_at: '2026-01-01T00:00:01Z',
  summary: {},
  ...more,
})

export const aCompleted = (project_id: string, more: object = {}) => {
  const start = aStart(project_id)
  return { ...start, trace_id: start.id, ended_at: '2026-01-01T00:00:01Z', summary: {}, ...more }
}

export const startItem = (start: unknown) => ({ mode: 'start', req: { start } })
export const endItem = (end: unknown) => ({ mode: 'end', req: { end } })
