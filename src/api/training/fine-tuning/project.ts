import { projectFromHeaders } from '../../../gateway/completions/request-context.js'
import type { Ports } from '../../../kernel/ports/ports.js'
import type { Services } from '../../../application/services.js'
import type { Training } from '../../../application/training/services.js'
import type { Authorization } from '../../server/authorization.js'

export interface FineTuningServices extends Pick<
  Services,
  keyof Ports | 'access' | 'reading' | 'throttle' | 'vendor'
> {
  readonly training: Training
}

/** What the routes of OpenAI's API have in common. */
export const openAi = { errorFormat: 'openai', requestHeaders: ['OpenAI-Project'] } as const

/** The project of the header, as for completions, or else the default project of completions. */
export const projectInHeader = (
  services: Pick<Services, 'access' | 'vendor'>,
): Authorization<{ readonly project: string }> => ({
  errors: [],
  authorize: ({ headers, principal }) => ({ project: projectFromHeaders(services, headers, principal) }),
})
