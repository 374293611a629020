import { address } from '../kit/boot.js'
import { CopyButton } from '../kit/copy.js'
import { usePlace } from '../kit/place.js'

const snippet = (projectId: string): string => `# pip install weave
import asyncio, os
os.environ["WF_TRACE_SERVER_URL"] = "${address}"
os.environ["WANDB_BASE_URL"] = "${address}"
os.environ["WANDB_API_KEY"] = "YOUR_API_KEY"

import weave
weave.init("${projectId}")

@weave.op
def answer(question: str) -> str:
    return "Paris"

@weave.op
def exact(expected: str, output: str) -> bool:
    return expected == output

rows = [{"question": "Capital of France?", "expected": "Paris"},
        {"question": "Capital of Japan?", "expected": "Tokyo"}]
asyncio.run(weave.Evaluation(name="capitals", dataset=rows, scorers=[exact]).evaluate(answer))
`

/** What an evaluation is, and a program that runs one. */
export const FirstEvaluation = () => {
  const { projectId } = usePlace()
  const text = snippet(projectId)
  return (
    <div style={{ maxWidth: 800 }}>
      <h2>No evaluations in {projectId} yet</h2>
      <p>
        An evaluation asks a model about every row of a dataset and scores its answers, so that two versions
        of a model or a prompt can be compared row by row. Run this with a key of yours, and the run appears
        here.
      </p>
      <pre className="code" tabIndex={0} aria-label="A program that runs an evaluation">
        {text}
      </pre>
      <CopyButton text={text}>Copy</CopyButton>
    </div>
  )
}
