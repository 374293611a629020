import type { ErasureRules } from '../../kernel/erased-content.js'

export const annotationQueueErasures: ErasureRules = {
  AnnotationQueueCreated: () => ({ description: '' }),
  AnnotationQueueChanged: () => ({ description: '' }),
}
