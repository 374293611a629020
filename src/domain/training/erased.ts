import type { ErasureRules } from '../erased-content.js'

export const trainingErasures: ErasureRules = {
  GradientStepLogged: () => ({ metrics: {} }),
  CheckpointSaved: () => ({ metrics: {} }),
  TrajectoriesLogged: () => ({ content: '' }),
  TrainingFailed: () => ({ error_message: 'erased' }),
  TrainingJobCreated: () => ({ input: '', config: {}, training_data_url: null, validation: null }),
  DataFileUploaded: () => ({ filename: 'erased', blob: '' }),
  FineTuningCreated: () => ({ given: {}, hyperparameters: null }),
}
