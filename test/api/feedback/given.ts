import { randomUUID } from 'node:crypto'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'

export const arbitraryFeedbackId = (): string => `feedback-${randomUUID()}`

export const refOfCall = (project: string, id = 'some-call'): string => `weave:///${project}/call/${id}`

export const someFeedback = (project_id: string, more: object = {}) => ({
  project_id,
  weave_ref: refOfCall(project_id),
  feedback_type: 'custom',
  payload: { score: 1 },
  ...more,
})

export const field = ($getField: string) => ({ $getField })
export const literal = ($literal: Json) => ({ $literal })
export const eq = (name: string, value: Json) => ({ $eq: [field(name), literal(value)] })

/** What a query answers. */
export const feedbackOf = async (
  service: TestService,
  project_id: string,
  more: object = {},
): Promise<readonly JsonObject[]> => {
  const { result } = await service.in(project_id).feedback.query(more).json()
  return result as readonly JsonObject[]
}

/** The value of a field in all that a query answers. */
export const column = async (
  service: TestService,
  project_id: string,
  name: string,
  more: object = {},
): Promise<readonly unknown[]> =>
  (await feedbackOf(service, project_id, { fields: [name], ...more })).map((row) => row[name])
