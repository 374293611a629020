import type * as t from 'io-ts'
import { oneOf } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import { projectId } from '../ids.js'

/**
 * How a project's calls report usage: `auto` recognises sums that SDKs put into parents, `own` takes every figure as
 * the call's own, `rolled_up` takes every parent's figures as including its children's.
 */
export const usageReporting = oneOf('auto', 'own', 'rolled_up')
export type UsageReporting = t.TypeOf<typeof usageReporting>

export const usageReportingChosen = open('UsageReportingChosen', {
  says: 'A project was told how its calls report usage; answers follow it from here on.',
  required: { project_id: projectId, usage_reporting: usageReporting },
})

export const projectEvents = { UsageReportingChosen: usageReportingChosen }

export interface ProjectChosen {
  readonly type: 'UsageReportingChosen'
  readonly data: t.TypeOf<typeof usageReportingChosen>
}

export const projectStream = (projectId: string): string => `project-${projectId}`
