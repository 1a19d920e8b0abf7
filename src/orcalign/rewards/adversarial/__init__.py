"""GAIfO: a network learns to tell the learner's transitions from the demo's, and the learner is paid for misleading it.

After Torabi, Warnell and Stone, Generative Adversarial Imitation from Observation, 2018; trained on the whole replay
and with a gradient penalty, after Kostrikov et al., Discriminator-Actor-Critic, 2019.
"""
