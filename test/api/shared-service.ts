import { randomUUID } from 'node:crypto'
import { startTestService, type TestService } from '../support/service.js'

let started: Promise<TestService> | undefined

/** One service for all tests that need nothing of their own but a project; it ends with the last test. */
export const sharedService = (): Promise<TestService> => (started ??= startTestService())

after(async () => (await started)?.stop())

/** A project nobody else writes to, of a team that the administrator's first write makes. */
export const someProject = (): string => `team-${randomUUID().slice(0, 8)}/project`
