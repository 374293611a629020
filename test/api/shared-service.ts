import { randomUUID } from 'node:crypto'
import { startTestService, type TestService } from '../support/service.js'

let started: Promise<TestService> | undefined

/** One service for all tests of this process that need nothing of their own but a project. */
export const sharedService = (): Promise<TestService> => (started ??= startTestService())

// Parallel files have no last test in common, so the service of a worker ends with it. Elsewhere the process would end
// with a segmentation fault if the embedded engine were still open.
if (process.env['MOCHA_WORKER_ID'] === undefined) after(async () => (await started)?.stop())

/** A project of its own, in a team that the administrator's first write creates. */
export const someProject = (): string => `team-${randomUUID().slice(0, 8)}/project`
